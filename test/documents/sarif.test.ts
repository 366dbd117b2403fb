import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { reportSarif } from '../../src/documents/report/sarif.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { factsFor } from './rule-facts.ts'
import { loadExample } from './rule-folders.ts'

/** The published schema, see `fixtures/README.md`. What it uses of draft 4 later drafts read alike, but for the key `id`. */
const {
  $schema: _,
  id: __,
  ...published
} = JSON.parse(readFileSync(join(import.meta.dirname, 'fixtures/sarif-2.1.0-rtm.5.json'), 'utf8')) as Record<
  string,
  unknown
>
const ajv = new Ajv({ allErrors: true, unicodeRegExp: false })
addFormats.default(ajv)
const isSarif = ajv.compile(published)

test.each(rules.map(({ name }) => [name]))('what %s finds is valid SARIF', async (name) => {
  const workspace = await loadExample(name, 'bad')
  const log = JSON.parse(reportSarif(lintWorkspace(workspace, factsFor(name, workspace)))) as unknown
  isSarif(log)
  expect(isSarif.errors ?? []).toEqual([])
})

test('a path with spaces and other letters is a URI', () => {
  const files = { 'my docs/ä#1.yaml': 'apiVersion: svc/v1\nkind: Tool\nspec: {}\n' }
  const log = JSON.parse(reportSarif(lintWorkspace(loadFiles(files)))) as {
    runs: { results: { locations: { physicalLocation: { artifactLocation: { uri: string } } }[] }[] }[]
  }
  expect(isSarif(log)).toBe(true)
  expect(log.runs[0]!.results[0]!.locations[0]!.physicalLocation.artifactLocation.uri).toBe('my%20docs/%C3%A4%231.yaml')
})
