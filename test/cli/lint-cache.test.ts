import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLintCache } from '../../src/cli/lint-cache.ts'
import { lint } from '../../src/documents/lint.ts'
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
const cache = (edition = 'lint-A.js', settings: unknown = {}) => openLintCache(project(), edition, settings, home)

async function linted(): Promise<string> {
  const workspace = await loadWorkspace(directory)
  const findings = lint(workspace)
  cache().keep(workspace, findings)
  return reportText(findings, { workspace })
}

test('what was said is said again, with the lines of the files', async () => {
  const said = await linted()
  expect(said).toContain('model/secret-undeclared')
  const recalled = cache().recall()!
  expect(reportText(recalled.findings, { workspace: recalled.workspace })).toBe(said)
  expect(recalled.workspace.read).toEqual(['agent.yaml'])
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
  writeFileSync(file, readFileSync(file, 'utf8').slice(0, 40))
  expect(cache().recall()).toBeUndefined()
})

test('the results of many projects do not pile up', async () => {
  const workspace = await loadWorkspace(directory)
  for (let at = 0; at < 70; at++) cache(`lint-${at}.js`).keep(workspace, [])
  expect(readdirSync(join(home, 'lint'))).toHaveLength(64)
})
