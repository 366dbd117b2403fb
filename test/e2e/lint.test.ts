/** `svc lint` as one uses it while writing. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { whole } from '../documents/whole.ts'
import { copyExample, endWithTests, svc, writeProject, type Project } from './binary.ts'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')

let project: Project
beforeEach(() => {
  project = writeProject({ 'svc.config.yaml': 'workspace: claims\n', ...whole })
})
afterEach(() => {
  project.remove()
})

const at = (path: string): string => join(project.directory, path)
const edit = (path: string, from: string, to: string): void => {
  const text = readFileSync(at(path), 'utf8')
  expect(text).toContain(from)
  writeFileSync(at(path), text.replace(from, to))
}

test('--watch tells what changes, once for a save, and ends with 130 at Ctrl-C', async () => {
  const child = spawn(process.execPath, [BIN, 'lint', '--watch', '--format', 'compact'], {
    cwd: project.directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithTests(child)
  let said = ''
  const waiting = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
      for (const look of waiting) look()
    })
  const until = (pattern: RegExp): Promise<void> =>
    new Promise((done) => {
      const look = (): void => {
        if (!pattern.test(said)) return
        waiting.delete(look)
        done()
      }
      waiting.add(look)
      look()
    })
  const ended = new Promise<number | null>((done) => child.on('close', done))
  await until(/^0 errors, 0 warnings in \d+ files/m)
  edit('agents/desk.yaml', 'acme.office-hours', 'acme.ofice-hours')
  await until(/^1 error, 0 warnings in \d+ files/m)
  edit('agents/desk.yaml', 'acme.ofice-hours', 'acme.office-hours')
  await until(/1 error[^]*\n0 errors, 0 warnings in \d+ files/)
  writeFileSync(at('svc.config.yaml'), 'workspace: claims\nlint: {rules: {no/such: off}}\n')
  await until(/^error\[usage\]: There is no rule "no\/such"\.$/m)
  writeFileSync(at('svc.config.yaml'), 'workspace: claims\n')
  await until(/no\/such[^]*\n0 errors, 0 warnings in \d+ files/)
  child.kill('SIGINT')
  expect(await ended).toBe(130)
  expect(said.match(/policy\/attachment-missing/g)).toHaveLength(1)
})

/** In which encodings documents come, and what is said of them. */
const TOOL = 'apiVersion: svc/v1\nkind: Tool\nmetadata: { name: café, namespace: pay, version: 1.0.0 }\nspec: {}\n'
const utf16 = Buffer.from(TOOL, 'utf16le')
test.each<[encoding: string, bytes: Uint8Array, line: string]>([
  ['Latin-1', Buffer.from(TOOL, 'latin1'), 'error  doc/not-utf8  The file is not UTF-8.'],
  [
    'UTF-16, little end first',
    Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
    'error  doc/not-utf8  The file is UTF-16, not UTF-8.',
  ],
  [
    'UTF-16, big end first',
    Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
    'error  doc/not-utf8  The file is UTF-16, not UTF-8.',
  ],
  ['UTF-16 without a mark', utf16, 'error  doc/not-utf8  The file is not UTF-8.'],
])(
  '%s is told of a file alone in a directory, of a file by name and of standard input alike',
  async (_, bytes, line) => {
    const alone = writeProject({})
    try {
      const cwd = alone.directory
      writeFileSync(join(cwd, 'tool.yaml'), bytes)
      const told = { code: 1, stdout: `tool.yaml:1:1  ${line}\n` }
      expect(await svc(['lint', '--format', 'compact'], { cwd })).toMatchObject(told)
      expect(await svc(['lint', 'tool.yaml', '--format', 'compact'], { cwd })).toMatchObject(told)
      const argv = ['lint', '-', '--stdin-filename', 'tool.yaml', '--format', 'compact']
      expect(await svc(argv, { cwd, input: bytes })).toMatchObject(told)
    } finally {
      alone.remove()
    }
  },
)

test('what --fix mended is judged as it was written, by the tests of policies, too', async () => {
  const refund = copyExample('refund')
  const agent = join(refund.directory, 'agents/fraud-check.yaml')
  writeFileSync(agent, readFileSync(agent, 'utf8').replace('kind: Agent', 'kind: Agnet'))
  const { code, stdout, stderr } = await svc(['lint', '--fix'], { cwd: refund.directory })
  expect({ code, stdout, stderr: stderr.replace(/\d+ ms/, 'N ms') }).toEqual({
    code: 0,
    stdout: '',
    stderr: '1 fixed; 0 errors, 0 warnings in 7 files (N ms)\n',
  })
  expect(readFileSync(agent, 'utf8')).toContain('kind: Agent\n')
  refund.remove()
})
