/** Sources in the shapes of other formats, and what an import makes of them. `UPDATE_GOLDEN=1` writes `expected`; read the difference. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENT_FORMATS } from '../../src/import/formats/agent-formats.ts'
import { removeDirectory } from '../remove-directory.ts'
import { svc, type Ran } from '../cli/recording-io.ts'

const FOLDER = join(import.meta.dirname, 'golden')

/** A folder of `golden`: how it is imported, and the project that comes of it. */
const SOURCES: readonly (readonly [folder: string, ...given: string[]])[] = [
  ['claude', 'claude', 'shop'],
  ['docker-agent', 'docker-agent', 'desk.yaml'],
  ['mcp', 'mcp', 'bookings.json', '--server', 'https://bookings.example/mcp', '--bearer', 'BOOKINGS_TOKEN'],
  ['agent-spec', 'agent-spec', 'travel.yaml', '--component', 'parts.json'],
]

/** What a person is left to answer; everything else has to be right. */
const QUESTIONS = [
  'import/open-question',
  'tool/no-input-schema',
  'schema/unbounded-string',
  'agent/instructions-placeholder',
]

const filesBelow = (directory: string): string[] =>
  (existsSync(directory) ? readdirSync(directory, { recursive: true, encoding: 'utf8' }) : [])
    .filter((path) => statSync(join(directory, path)).isFile())
    .toSorted()

const textsOf = (directory: string): Record<string, string> =>
  Object.fromEntries(filesBelow(directory).map((path) => [path, readFileSync(join(directory, path), 'utf8')]))

test('each format has a golden folder', () => {
  expect(
    AGENT_FORMATS.map(({ name }) => name).filter((name) => !SOURCES.some(([, format]) => format === name)),
  ).toEqual([])
})

describe.each(SOURCES)('%s', (folder, ...given) => {
  const golden = join(FOLDER, folder)
  let cwd: string
  let ran: Ran
  beforeAll(async () => {
    cwd = mkdtempSync(join(tmpdir(), 'svc-golden-'))
    writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: golden\n')
    for (const name of readdirSync(golden))
      if (name !== 'expected') cpSync(join(golden, name), join(cwd, name), { recursive: true })
    ran = await svc(['import', ...given], { cwd })
  })
  afterAll(() => removeDirectory(cwd))

  test('what is written and printed is what is expected', () => {
    const own = new Set(readdirSync(golden).filter((name) => name !== 'expected'))
    const made: Record<string, string> = { 'output.txt': `${ran.stdout}${ran.stderr}# exit ${ran.code}\n` }
    for (const [path, text] of Object.entries(textsOf(cwd)))
      // The record repeats the documents.
      if (!own.has(path.split('/')[0]!) && !path.startsWith('imports/')) made[path] = text
    if (process.env['UPDATE_GOLDEN'])
      for (const [path, text] of Object.entries(made)) {
        mkdirSync(dirname(join(golden, 'expected', path)), { recursive: true })
        writeFileSync(join(golden, 'expected', path), text)
      }
    expect(made).toEqual(textsOf(join(golden, 'expected')))
  })

  test('lint finds nothing but questions, which it names', async () => {
    const { diagnostics } = JSON.parse((await svc(['lint', '--json'], { cwd })).stdout) as {
      diagnostics: readonly { readonly rule: string; readonly severity: string; readonly path: string }[]
    }
    const found = diagnostics.filter(({ severity }) => severity !== 'info')
    expect(found.filter(({ rule, severity }) => severity !== 'warning' || !QUESTIONS.includes(rule))).toEqual([])
    const written = ['agents', 'tools', 'policies'].filter((name) => existsSync(join(cwd, name)))
    expect((await svc(['fmt', '--check', ...written], { cwd })).code).toBe(0)
  })

  test('it compiles, and its agent runs', async () => {
    const { code, stdout, stderr } = await svc(['test', 'run.scenario.yaml'], { cwd })
    expect({ code, stdout, stderr }).toMatchObject({ code: 0 })
  })

  test('the same source again changes nothing', async () => {
    const before = textsOf(cwd)
    const again = JSON.parse((await svc(['import', ...given, '--json'], { cwd })).stdout) as {
      documents: readonly { readonly action: string }[]
      questions: readonly unknown[]
    }
    expect(again.documents.filter(({ action }) => action !== 'unchanged')).toEqual([])
    expect(again.questions).toEqual([])
    expect(textsOf(cwd)).toEqual(before)
  })
})
