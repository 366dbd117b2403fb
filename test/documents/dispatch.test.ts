import { describe, expect, test } from 'vitest'
import type { JsonValue } from '../../src/base/json.ts'
import { createDispatch, type Concern } from '../../src/documents/dispatch.ts'
import type { Document } from '../../src/documents/document.ts'
import { loadFiles } from '../../src/documents/load.ts'
import type { Project, Report } from '../../src/documents/rule.ts'
import { rules } from '../../src/documents/rules/index.ts'
import type { Workspace } from '../../src/documents/workspace.ts'
import type { Listing } from '../../src/tools/listed-tool.ts'
import { complete } from './complete.ts'
import { changed, fields, full } from './format-table.ts'
import { whole } from './whole.ts'

/** What rules ask for: paths, some with the value that is to stand there. */
const asked = [...new Set(rules.flatMap(({ needs = [], lacks = [] }) => [...needs, ...lacks]))]

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

const dispatchRules = createDispatch(rules)

const projectOf = (workspace: Workspace): Project => ({
  workspace,
  published: { versions: () => [] },
  providers: {},
  guardrails: [],
})

describe('what concerns a document', () => {
  const all: readonly (Concern & { readonly name: string })[] = [
    { name: 'all' },
    { name: 'agents', kinds: ['Agent'] },
    { name: 'limits', kinds: ['Agent'], needs: ['spec.limits'] },
    { name: 'tools', kinds: ['Agent', 'Tool'], needs: ['spec.tools.*.mcp', 'spec.input_schema'] },
    { name: 'labels', needs: ['metadata.labels.*'] },
    { name: 'denials', kinds: ['Policy'], needs: ['spec.decision.type: deny'] },
    { name: 'lax', kinds: ['Agent'], needs: ['output.strict'], lacks: ['output.strict: true'] },
    { name: 'ownerless', kinds: ['Bundle'], lacks: ['metadata.owner'] },
    { name: 'served', given: ({ server }) => server !== undefined },
    { name: 'late' },
  ]
  const dispatch = createDispatch(all)
  const namesFor = (value: JsonValue): string[] => {
    const document = documentOf(value)
    return dispatch(projectOf(loadFiles({})))(document).map(({ name }) => name)
  }

  test.each<[string, JsonValue, string[]]>([
    ['is for its kind', { kind: 'Tool' }, ['all', 'late']],
    ['has what it needs', { kind: 'Agent', spec: { limits: {} } }, ['all', 'agents', 'limits', 'late']],
    ['has one of two', { kind: 'Tool', spec: { input_schema: 1 } }, ['all', 'tools', 'late']],
    ['has it in a list', { kind: 'Agent', spec: { tools: [{}, { mcp: 0 }] } }, ['all', 'agents', 'tools', 'late']],
    ['has it in no member', { kind: 'Agent', spec: { tools: [{}, 'mcp', null] } }, ['all', 'agents', 'late']],
    ['has an empty mapping', { kind: 'Policy', metadata: { labels: {} } }, ['all', 'late']],
    ['has a mapping with null', { kind: 'Policy', metadata: { labels: { a: null } } }, ['all', 'labels', 'late']],
    ['has the text', { kind: 'Policy', spec: { decision: { type: 'deny' } } }, ['all', 'denials', 'late']],
    ['has another text', { kind: 'Policy', spec: { decision: { type: 'allow' } } }, ['all', 'late']],
    ['has something else', { kind: 'Policy', spec: { decision: { type: ['deny'] } } }, ['all', 'late']],
    ['has what is not true', { kind: 'Agent', output: { strict: 'true' } }, ['all', 'agents', 'lax', 'late']],
    ['has what it lacks', { kind: 'Agent', output: { strict: true } }, ['all', 'agents', 'late']],
    ['lacks it', { kind: 'Bundle', metadata: { name: 'b' } }, ['all', 'ownerless', 'late']],
    ['has it, though empty', { kind: 'Bundle', metadata: { owner: '' } }, ['all', 'late']],
    ['has a text instead', { kind: 'Agent', spec: 'limits', metadata: 'labels' }, ['all', 'agents', 'late']],
  ])('%s', (_, value, names) => {
    expect(namesFor({ apiVersion: 'svc/v1', ...(value as object) })).toEqual(names)
  })
})

test('what is given by a project concerns the documents of those alone that give it', () => {
  const dispatch = createDispatch([{ given: ({ server }: Project) => server !== undefined }, {}])
  const document = documentOf({ apiVersion: 'svc/v1', kind: 'Tool' })
  const bare = projectOf(loadFiles({}))
  const served: Project = { ...bare, server: { approvers: 1, hidden: {} } }
  expect([bare, served, bare].map((project) => dispatch(project)(document).length)).toEqual([1, 2, 1])
})

test('what asks for a path concerns the documents that find something at it', () => {
  const dispatch = createDispatch(asked.map((each) => ({ needs: [each] })))
  for (const workspace of workspaces)
    for (const document of workspace.documents)
      expect(dispatch(projectOf(workspace))(document).map(({ needs }) => needs[0])).toEqual(
        asked.filter((each) => {
          const [path, value] = each.split(': ')
          const found = document.at(path!)
          return value === undefined
            ? found.length > 0
            : found.some((one) => one.value === (value === 'true' ? true : value))
        }),
      )
})

test('a rule that does not concern a document has nothing to say to it', () => {
  const listing: Listing = { tools: new Map() }
  for (const workspace of workspaces) {
    const bare = projectOf(workspace)
    const knowing: Project = {
      ...bare,
      published: { versions: () => ['9.9.9'], document: () => ({}) },
      env: {},
      server: { approvers: 1, hidden: {} },
      mcp: new Map(workspace.documents.map((document) => [document, new Map([['web', listing]])])),
      coverage: new Map(),
      loosened: [],
    }
    for (const project of [bare, knowing]) {
      const concerning = dispatchRules(project)
      for (const document of workspace.documents) {
        const concerned = new Set(concerning(document))
        for (const rule of rules) {
          if (rule.kinds?.includes(document.kind) === false || concerned.has(rule)) continue
          const say: Report = (_, message) => expect.fail(`${rule.name} says to ${document.path}: ${message}`)
          rule.check?.(document, say, project)
        }
      }
    }
  }
})
