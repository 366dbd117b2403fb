/** How the built program starts, in a copy of the package without any other package. Source: docs/design/command-line.md#start-time */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cacheCompiledCode } from '../../src/cli/shell/compile-cache.ts'
import { removeDirectory } from '../remove-directory.ts'

const ROOT = resolve(import.meta.dirname, '../..')

let home = ''
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'svc-start-'))
  for (const name of ['bin', 'package.json', 'schemas', 'templates', 'dist/start.js', 'dist/chunks'])
    cpSync(join(ROOT, name), join(home, name), { recursive: true })
  mkdirSync(join(home, 'project'))
  writeFileSync(
    join(home, 'project/tool.yaml'),
    'apiVersion: svc/v1\nkind: Tool\nmetadata: {name: refund, namespace: pay, version: "1.0.0"}\nspec: {description: Refunds an order.}\n',
  )
})
afterAll(() => removeDirectory(home))

function start(args: readonly string[], more: Readonly<Record<string, string>> = {}): string {
  const env = { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, 'cache'), ...more }
  return execFileSync(process.execPath, [join(home, 'bin/svc.js'), ...args], {
    cwd: join(home, 'project'),
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

test.each([
  ['--version', /^\d+\.\d+\.\d+\n$/],
  ['lint --json', /^\{"ok":true,"files":1,/],
  ['fmt', /^$/],
  ['policy eval --help', /^Usage: svc policy eval /],
])('svc %s loads no file of a package', (line, said) => {
  expect(start(line.split(' '))).toMatch(said)
})

test('compiled code is cached in a directory that the user alone can write', () => {
  const asked: string[] = []
  const cacheIn = (XDG_CACHE_HOME: string, HOME?: string): void =>
    cacheCompiledCode({ XDG_CACHE_HOME, HOME }, (directory) => asked.push(directory))
  cacheIn('', join(home, 'ann'))
  const made = join(home, 'ann/.cache/svc/code')
  expect([asked, statSync(made).mode & 0o777]).toEqual([[made], 0o700])
  chmodSync(made, 0o777)
  cacheIn('', join(home, 'ann'))
  cacheIn('caches', join(home, 'ann'))
  cacheIn('')
  expect(asked).toEqual([made])
})

test('a place for compiled code that cannot be written is passed over', () => {
  writeFileSync(join(home, 'file'), '')
  expect(JSON.parse(start(['lint', '--json'], { XDG_CACHE_HOME: join(home, 'file') }))).toMatchObject({ ok: true })
})
