/** `svc lint` as one uses it while writing: watched, and from what it remembers. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { lint } from '../../src/documents/lint.ts'
import { loadFiles, loadWorkspace } from '../../src/documents/load.ts'
import { formats } from '../../src/documents/report/formats.ts'
import { whole } from '../documents/whole.ts'
import { copyExample, endWithTests, svc, writeProject, type Project } from './binary.ts'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')

let project: Project
let cache: string
beforeEach(() => {
  project = writeProject({ 'svc.config.yaml': 'workspace: claims\n', ...whole })
  cache = mkdtempSync(join(tmpdir(), 'svc-lint-cache-'))
})
afterEach(() => {
  project.remove()
  rmSync(cache, { recursive: true, force: true })
})

const at = (path: string): string => join(project.directory, path)
const edit = (path: string, from: string, to: string): void => {
  const text = readFileSync(at(path), 'utf8')
  expect(text).toContain(from)
  writeFileSync(at(path), text.replace(from, to))
}

test('what it remembers is what it would say anew, whatever was changed', async () => {
  const lint = async (home: string, ...argv: string[]): Promise<string> =>
    (await svc(['lint', '--json', ...argv], { cwd: project.directory, env: { XDG_CACHE_HOME: home } })).stdout
  const rulesOf = (stdout: string): string[] =>
    (JSON.parse(stdout) as { diagnostics: { rule: string }[] }).diagnostics.map(({ rule }) => rule)

  const steps: readonly (readonly [what: string, change: () => void, rule: string])[] = [
    ['a prompt that is emptied', () => writeFileSync(at('prompts/desk.md'), '\n'), 'agent/instructions-empty'],
    ['a prompt again', () => writeFileSync(at('prompts/desk.md'), 'You settle claims.\n'), ''],
    ['a schema file', () => edit('schemas/transfer.json', '"integer"', '"intege"'), 'schema/invalid'],
    ['the schema again', () => edit('schemas/transfer.json', '"intege"', '"integer"'), ''],
    [
      'a lock of another version',
      () =>
        writeFileSync(
          at('svc.lock'),
          '{"lockfile_version": 1, "members": [{"kind": "tool", "id": "pay.transfer", "version": "0.9.0", "origin": "local", "path": "tools/transfer.yaml"}]}',
        ),
      'bundle/lock-drift',
    ],
    ['no lock', () => rmSync(at('svc.lock')), ''],
    ['the project file', () => writeFileSync(at('svc.config.yaml'), 'lint: { rules: { tool/unpinned: error } }\n'), ''],
    [
      'a document of the same size and time',
      () => {
        const { atime, mtime } = statSync(at('agents/desk.yaml'))
        edit('agents/desk.yaml', 'pay.large-transfer', 'pay.larfe-transfer')
        utimesSync(at('agents/desk.yaml'), atime, mtime)
      },
      'policy/attachment-missing',
    ],
    ['the same document again', () => edit('agents/desk.yaml', 'pay.larfe-transfer', 'pay.large-transfer'), ''],
    [
      'a policy test',
      () =>
        writeFileSync(
          at('policies/transfer.policytest.yaml'),
          'policies: [policies/large-transfer.yaml]\ncalls: [{ tool: pay.transfer, args: { iban: DE02, cents: 1 }, expect: allow }]\n',
        ),
      'policy/untested',
    ],
    ['a tool that is gone', () => renameSync(at('tools/transfer.yaml'), at('tools/transfer.txt')), 'tool/unresolved'],
  ]
  for (const [what, change, rule] of steps) {
    change()
    const [remembered, anew] = await Promise.all([lint(cache), lint(join(cache, 'none', what))])
    expect([what, rulesOf(remembered)[0] ?? '']).toEqual([what, rule])
    expect(remembered).toBe(anew)
  }
  expect(existsSync(join(cache, 'svc/lint')) && readdirSync(join(cache, 'svc/lint')).length > 0).toBe(true)
})

test('--watch tells what changes, once for a save, and ends with 130 at Ctrl-C', async () => {
  const child = spawn(process.execPath, [BIN, 'lint', '--watch', '--format', 'compact'], {
    cwd: project.directory,
    env: { ...process.env, XDG_CACHE_HOME: cache },
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

test('a project that is shared among threads has the findings of one that is linted at once', async () => {
  const files: Record<string, string> = {}
  for (let number = 0; number < 60; number++)
    for (const [path, text] of Object.entries(whole))
      files[`team-${number}/${path}`] = text
        .replaceAll(/\bacme\b/g, `acme-${number % 50}`)
        // Some of them have a fault: alone, across bundles, hushed up.
        .replaceAll('pay.large-transfer', number % 7 === 3 ? 'pay.larfe-transfer' : 'pay.large-transfer')
        .replace(/^spec:/m, number % 11 === 5 ? '# svc-lint-disable-file tool/unpinned\nspec:' : 'spec:')
  const large = writeProject({ 'svc.config.yaml': 'workspace: claims\n', ...files })
  try {
    const { stdout, code } = await svc(['lint', '--json'], { cwd: large.directory, env: { XDG_CACHE_HOME: cache } })
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: unknown[] }
    const expected = lint(await loadWorkspace(large.directory))
    expect(expected.length).toBeGreaterThan(10)
    expect(diagnostics).toEqual(
      (JSON.parse(formats.json(expected, { workspace: loadFiles(files) })) as { diagnostics: unknown[] }).diagnostics,
    )
    expect(code).toBe(1)
  } finally {
    large.remove()
  }
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

test('the program is read as Latin-1, so it is ASCII', () => {
  const dist = resolve(import.meta.dirname, '../../dist')
  const [program] = readdirSync(dist).filter((name) => /^cli-\w+\.cjs$/.test(name))
  expect(/[^\0-\x7f]/.exec(readFileSync(join(dist, program!), 'utf8'))?.[0]).toBeUndefined()
})

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
