import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json.ts'
import { createDispatch, type Concern } from '../../src/documents/dispatch.ts'
import type { Document } from '../../src/documents/document.ts'
import { loadFiles } from '../../src/documents/load.ts'
import type { Project } from '../../src/documents/rule.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { Workspace } from '../../src/documents/workspace.ts'
import type { Listing } from '../../src/tools/listed-tool.ts'
import { complete } from './complete.ts'
import { changed, fields, full } from './format-table.ts'
import { whole } from './whole.ts'

const needing = rules.filter(({ needs }) => needs !== undefined)
const paths = [...new Set(needing.flatMap(({ needs }) => needs!))]

/** Every example of a rule; the documents of the format with each of their fields left out, or as it may not be. */
const workspaces: readonly Workspace[] = [
  whole,
  ...rules.flatMap(({ bad, good }) => [complete(bad), complete(good)]),
  ...fields.flatMap(({ kind, path, bad }) =>
    [undefined, ...bad].map((value) => ({ 'x.json': JSON.stringify(changed(full[kind], path, value)) })),
  ),
].map((files) => loadFiles(files))

const documentOf = (value: JsonValue): Document => {
  const [document] = loadFiles({ 'x.json': JSON.stringify(value) }).documents
  return document!
}

describe('what concerns a document', () => {
  const all: readonly (Concern & { readonly name: string })[] = [
    { name: 'all' },
    { name: 'agents', kinds: ['Agent'] },
    { name: 'limits', kinds: ['Agent'], needs: ['spec.limits'] },
    { name: 'tools', kinds: ['Agent', 'Tool'], needs: ['spec.tools.*.mcp', 'spec.input_schema'] },
    { name: 'labels', needs: ['metadata.labels.*'] },
    { name: 'late' },
  ]
  const concerning = createDispatch(all)
  const namesFor = (value: JsonValue): string[] => concerning(documentOf(value)).map(({ name }) => name)

  test.each<[string, JsonValue, string[]]>([
    ['is for its kind', { kind: 'Tool' }, ['all', 'late']],
    ['has what it needs', { kind: 'Agent', spec: { limits: {} } }, ['all', 'agents', 'limits', 'late']],
    ['has one of two', { kind: 'Tool', spec: { input_schema: 1 } }, ['all', 'tools', 'late']],
    ['has it in a list', { kind: 'Agent', spec: { tools: [{}, { mcp: 0 }] } }, ['all', 'agents', 'tools', 'late']],
    ['has it in no member', { kind: 'Agent', spec: { tools: [{}, 'mcp', null] } }, ['all', 'agents', 'late']],
    ['has an empty mapping', { kind: 'Policy', metadata: { labels: {} } }, ['all', 'late']],
    ['has a mapping with null', { kind: 'Policy', metadata: { labels: { a: null } } }, ['all', 'labels', 'late']],
    ['has a text instead', { kind: 'Agent', spec: 'limits', metadata: 'labels' }, ['all', 'agents', 'late']],
  ])('%s', (_, value, names) => {
    expect(namesFor({ apiVersion: 'svc/v1', ...(value as object) })).toEqual(names)
  })
})

test('what needs a path concerns the documents that find something at it', () => {
  const concerning = createDispatch(paths.map((path) => ({ needs: [path] })))
  for (const { documents } of workspaces)
    for (const document of documents)
      expect(concerning(document).map(({ needs }) => needs[0])).toEqual(
        paths.filter((path) => document.at(path).length > 0),
      )
})

test('a rule that needs something has nothing to say to documents without it', () => {
  const listing: Listing = { tools: new Map() }
  for (const workspace of workspaces) {
    const project: Project = {
      workspace,
      published: { versions: () => ['9.9.9'] },
      providers: {},
      guardrails: [],
      env: {},
      server: { approvers: 1, hidden: {} },
      mcp: new Map(workspace.documents.map((document) => [document, new Map([['web', listing]])])),
      coverage: new Map(),
      loosened: [],
    }
    for (const document of workspace.documents)
      for (const { name, kinds, needs, check } of needing) {
        if (kinds?.includes(document.kind) === false || needs!.some((path) => document.at(path).length > 0)) continue
        check!(document, (_, message) => expect.fail(`${name} says to ${document.path}: ${message}`), project)
      }
  }
})
