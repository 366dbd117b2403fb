import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLintCache } from '../../src/cli/lint-cache.ts'
import { directoryFiles, type Trace } from '../../src/documents/files.ts'
import { lint } from '../../src/documents/lint.ts'
import { createShare, lintInParts } from '../../src/documents/lint-parts.ts'
import { loadWorkspace } from '../../src/documents/load.ts'
import { reportText } from '../../src/documents/report/text.ts'

const AGENT = `apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: acme, version: 1.0.0 }
spec:
  purpose: Answers questions.
  instructions: { ref: prompts/desk.md }
  model: { provider: scripted, name: script, secret: key }
`

let directory: string
let home: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-lint-'))
  home = mkdtempSync(join(tmpdir(), 'svc-cache-'))
  mkdirSync(join(directory, 'prompts'))
  writeFileSync(join(directory, 'agent.yaml'), AGENT)
  writeFileSync(join(directory, 'prompts/desk.md'), 'Help.\n')
})
afterEach(() => {
  rmSync(directory, { recursive: true })
  rmSync(home, { recursive: true })
})

const project = () => ({ directory, dataDirectory: join(directory, '.svc') })
/** Long after the files were written, or shortly. */
const [LATER, SOON] = [60_000, 0]
const cache = (edition = 'lint-A.js', settings: unknown = {}, after = SOON) =>
  openLintCache(project(), edition, settings, Date.now() + after, home)

async function linted(after = SOON): Promise<string> {
  const kept = cache(undefined, undefined, after)
  const workspace = await loadWorkspace(directory)
  const findings = lint(workspace)
  kept.keep({ workspace, findings })
  return reportText(findings, { workspace })
}

test('what was said is said again, with the lines of the files', async () => {
  const said = await linted()
  expect(said).toContain('model/secret-undeclared')
  const recalled = cache().recall()!
  expect(reportText(recalled.findings, { workspace: recalled.workspace })).toBe(said)
  expect(recalled.workspace.read).toEqual(['agent.yaml'])
  expect(recalled.summary).toEqual({ ok: false, files: 1, errors: 1, warnings: 0, fixable: 0 })
})

test('how it was drawn is kept beside it', async () => {
  await linted()
  const kept = cache()
  const recalled = kept.recall()!
  expect(recalled.drawn).toBeUndefined()
  kept.keep(recalled, { as: 'text', text: 'agent.yaml:7:55  error' })
  expect(cache().recall()).toMatchObject({ drawn: { as: 'text', text: 'agent.yaml:7:55  error' } })
  expect(cache().recall()?.findings).toHaveLength(2)
})

/** Makes the kept digests those of other files: who reads a file finds that it is another. */
function otherDigests(): void {
  const [name] = readdirSync(join(home, 'lint'))
  const file = join(home, 'lint', name!)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/"digest":"[^"]*"/g, '"digest":"other"'))
}

test('a file that looks as it did long after it was written is not read again', async () => {
  await linted(LATER)
  otherDigests()
  expect(cache(undefined, undefined, LATER).recall()).toBeDefined()
  utimesSync(join(directory, 'agent.yaml'), 0, 0)
  expect(cache(undefined, undefined, LATER).recall()).toBeUndefined()
})

test('a file that was written just before is read, since it may have changed again in the same moment', async () => {
  await linted()
  expect(cache().recall()).toBeDefined()
  otherDigests()
  expect(cache().recall()).toBeUndefined()
})

test('a file that was read again is not read a third time', async () => {
  await linted()
  expect(cache(undefined, undefined, LATER).recall()).toBeDefined()
  otherDigests()
  expect(cache(undefined, undefined, LATER).recall()).toBeDefined()
})

test('a file that was written anew as it was is the same', async () => {
  await linted(LATER)
  writeFileSync(join(directory, 'agent.yaml'), AGENT)
  expect(cache(undefined, undefined, LATER).recall()).toBeDefined()
})

test.each<readonly [string, () => void]>([
  ['a document', () => writeFileSync(join(directory, 'agent.yaml'), AGENT.replace('secret: key', 'secret: kex'))],
  ['a file that a document names', () => writeFileSync(join(directory, 'prompts/desk.md'), '')],
  ['the list of files', () => writeFileSync(join(directory, 'tool.yaml'), 'kind: Tool\n')],
  ['what is ignored', () => writeFileSync(join(directory, '.svcignore'), 'agent.yaml\n')],
  ['a file that is gone', () => rmSync(join(directory, 'prompts/desk.md'))],
])('nothing is recalled when %s has changed', async (_, change) => {
  await linted()
  change()
  expect(cache().recall()).toBeUndefined()
})

test('a file that one thread has read before it was saved, and another one behind, is no result', async () => {
  const rail = join(directory, 'rail.yaml')
  writeFileSync(rail, 'kind: Policy\nspec: {description: Before.}\n')
  const kept = cache()
  const files = directoryFiles(directory)
  // Each part is judged by what guards all of them.
  const options = { guardrails: ['rail.yaml'] }
  const checked = await lintInParts(
    files,
    {},
    options,
    (order, own) => {
      const [first, second] = [createShare(order, own), createShare(order)]
      const seen = new Map<string, Trace>()
      return {
        seen,
        run(round) {
          const before = first.begin(round)(0)
          writeFileSync(rail, 'kind: Policy\nspec: {description: Later.}\n')
          const later = second.begin(round)
          const reports = round.parts.map((_, part) => (part === 0 ? before : later(part)))
          for (const path of second.files.seen!()) seen.set(path, second.files.trace!(path))
          return Promise.resolve(reports)
        },
      }
    },
    { few: 1, many: 0 },
  )
  kept.keep(checked)
  expect(cache().recall()).toBeUndefined()
})

test('another program and other settings have other results', async () => {
  await linted()
  expect(cache('lint-B.js').recall()).toBeUndefined()
  expect(cache('lint-A.js', { strict: true }).recall()).toBeUndefined()
})

test('a project with a data directory keeps its results there', async () => {
  mkdirSync(join(directory, '.svc'))
  await linted()
  expect(readdirSync(home)).toEqual([])
  expect(cache().recall()).toBeDefined()
})

test('a damaged entry is no result', async () => {
  await linted()
  const [name] = readdirSync(join(home, 'lint'))
  const file = join(home, 'lint', name!)
  const whole = readFileSync(file, 'utf8')
  for (const length of [40, whole.length - 10]) {
    writeFileSync(file, whole.slice(0, length))
    expect(cache().recall()).toBeUndefined()
  }
})

test('the results of many projects, and what a lint that was killed had begun to write, do not pile up', async () => {
  const workspace = await loadWorkspace(directory)
  mkdirSync(join(home, 'lint'))
  const draft = join(home, 'lint/draft.tmp')
  writeFileSync(draft, '')
  utimesSync(draft, 1, 1)
  for (let at = 0; at < 70; at++) cache(`lint-${at}.js`).keep({ workspace, findings: [] })
  expect(readdirSync(join(home, 'lint'))).toHaveLength(64)
})
