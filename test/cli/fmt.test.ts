import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { svc } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const CANONICAL = `apiVersion: svc/v1
kind: Tool
metadata:
  name: refund
  namespace: pay
  version: 1.0.0
spec: {}
`
const LOOSE = `kind: Tool
apiVersion: "svc/v1"
metadata:
    namespace: pay # whose
    name: refund
    version: '1.0.0'
spec: {}
`
const FORMATTED = `apiVersion: svc/v1
kind: Tool
metadata:
  name: refund
  namespace: pay # whose
  version: 1.0.0
spec: {}
`

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-fmt-'))
  mkdirSync(join(cwd, 'tools'))
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: test\n')
  writeFileSync(join(cwd, 'tools/good.yaml'), CANONICAL)
  writeFileSync(join(cwd, 'tools/loose.yaml'), LOOSE)
  writeFileSync(join(cwd, 'other.yaml'), 'b:   1\na:  2\n')
})
afterEach(() => removeDirectory(cwd))

const loose = (): string => readFileSync(join(cwd, 'tools/loose.yaml'), 'utf8')

test('writes what is not in the canonical form, and nothing else', async () => {
  expect(await svc(['fmt'], { cwd })).toMatchObject({
    code: 0,
    stdout: '',
    stderr: 'formatted 1 of 2 files: tools/loose.yaml\n',
  })
  expect(loose()).toBe(FORMATTED)
  expect(readFileSync(join(cwd, 'other.yaml'), 'utf8')).toBe('b:   1\na:  2\n')
  expect(await svc(['fmt'], { cwd })).toMatchObject({ code: 0, stderr: '2 files formatted already\n' })
})

test('--check lists, --diff shows, and neither writes', async () => {
  expect(await svc(['fmt', '--check'], { cwd })).toMatchObject({
    code: 1,
    stdout: 'tools/loose.yaml\n',
    stderr: '1 file would change; run svc fmt\n',
  })
  const shown = await svc(['fmt', '--diff', 'tools'], { cwd })
  expect(shown.code).toBe(0)
  expect(shown.stdout).toBe(`--- tools/loose.yaml
+++ tools/loose.yaml
@@ -1,7 +1,7 @@
+apiVersion: svc/v1
 kind: Tool
-apiVersion: "svc/v1"
 metadata:
-    namespace: pay # whose
-    name: refund
-    version: '1.0.0'
+  name: refund
+  namespace: pay # whose
+  version: 1.0.0
 spec: {}
`)
  expect(loose()).toBe(LOOSE)
})

test('with --json the files that changed are reported', async () => {
  const checked = await svc(['fmt', '--check', '--json'], { cwd })
  expect([checked.code, JSON.parse(checked.stdout)]).toEqual([1, { changed: ['tools/loose.yaml'], unchanged: 1 }])
  expect(loose()).toBe(LOOSE)
  const written = await svc(['fmt', '--json'], { cwd })
  expect([written.code, JSON.parse(written.stdout)]).toEqual([0, { changed: ['tools/loose.yaml'], unchanged: 1 }])
  expect(loose()).toBe(FORMATTED)
})

test('- reads standard input and writes standard output', async () => {
  expect(await svc(['fmt', '-'], { cwd, stdin: LOOSE })).toMatchObject({ code: 0, stdout: FORMATTED, stderr: '' })
  expect(await svc(['fmt', '-', '--check'], { cwd, stdin: LOOSE })).toMatchObject({ code: 1, stdout: '-\n' })
  expect(await svc(['fmt', '-', '--check'], { cwd, stdin: FORMATTED })).toMatchObject({ code: 0, stdout: '' })
})

test('the name of standard input says its language, and what it is called', async () => {
  const argv = ['fmt', '-', '--stdin-filename', 'tools/refund.json']
  const stdin = '{"kind": "Tool", "apiVersion": "svc/v1"}'
  expect(await svc(argv, { cwd, stdin })).toMatchObject({
    code: 0,
    stdout: '{\n  "apiVersion": "svc/v1",\n  "kind": "Tool"\n}\n',
  })
  expect(await svc([...argv, '--check'], { cwd, stdin })).toMatchObject({ code: 1, stdout: 'tools/refund.json\n' })
})

test('a document that cannot be read is reported with its place; the others are formatted', async () => {
  writeFileSync(join(cwd, 'tools/bad.yaml'), 'apiVersion: svc/v1\nkind: [\n')
  const ran = await svc(['fmt'], { cwd })
  expect(ran.code).toBe(1)
  expect(ran.stderr).toContain('tools/bad.yaml:2:8  error  doc/syntax')
  expect(loose()).toBe(FORMATTED)
})

test('a path without documents is reported', async () => {
  expect(await svc(['fmt', 'other.yaml'], { cwd })).toMatchObject({ code: 0 })
  removeDirectory(join(cwd, 'tools'))
  expect(await svc(['fmt'], { cwd })).toMatchObject({ code: 5 })
})
