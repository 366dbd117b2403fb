/** Whatever lets something be compiled refuses documents that break an essential rule, whatever configuration and comments say. */
import { describe, expect, test } from 'vitest'
import { fail, isFailure } from '../../src/base/failure.ts'
import { compileClosure } from '../../src/compile/compile.ts'
import { compileEditedPolicies } from '../../src/compile/edit/compile-edits.ts'
import { nothingPublished } from '../../src/compile/state/published.ts'
import { compileUnattachedPolicies } from '../../src/compile/unattached.ts'
import { lintOptionsOf } from '../../src/cli/project/lint-options.ts'
import { isEssential } from '../../src/documents/lint/essential.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import { cases } from '../cases.ts'
import { loadExample, readExampleTexts } from '../documents/rule-folders.ts'
import { whole } from '../documents/whole.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { bundleOf, compileFiles, DESK, type Files } from './make.ts'

const essential = rules.filter((rule) => rule.essential).map(({ name }) => name)

/** The files with a comment that would suppress the rule in each. */
const suppressing = (files: Files, rule: string): Files =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [
      path,
      /\.ya?ml$/.test(path) ? `# svc-lint-disable-file ${rule} -- we know\n${text}` : text,
    ]),
  )

async function brokenBy(rule: string): Promise<Workspace> {
  // Only a directory can hold a link, and a comment changes files that are too large or not UTF-8 only in their text.
  const files = readExampleTexts(rule, 'bad')
  const isByteRule = rule === 'bundle/symlink' || rule === 'doc/not-utf8'
  return isByteRule ? await loadExample(rule, 'bad') : loadFiles(suppressing(files, rule))
}

/** True where nothing was compiled. */
type Entry = (workspace: Workspace, path: string) => Promise<boolean> | boolean

async function refusesClosure(workspace: Workspace, root: string): Promise<boolean> {
  try {
    const { bundle } = await compileClosure({ workspace, root, published: nothingPublished })
    return bundle === undefined
  } catch (error) {
    if (isFailure(error)) return true
    throw error
  }
}

/** Every way to compile a document, by name. A new one belongs here. */
const entries: Readonly<Record<string, Entry>> = {
  'as what is published': (workspace, path) => refusesClosure(workspace, path),
  'with the bundle around it': (workspace, path) => {
    const document = workspace.documentsAt(path)[0]
    const bundle = workspace.documents.find(
      (each) => each.kind === 'Bundle' && document && workspace.publishedTogether(each).includes(document),
    )
    return refusesClosure(workspace, bundle?.path ?? path)
  },
  'as policies alone': (workspace, path) => {
    const policies = workspace.documentsAt(path).filter(({ kind }) => kind === 'Policy')
    return policies.length === 0 || !compileUnattachedPolicies(workspace, policies, 'a.b', []).set
  },
  'as edited policies': (workspace, path) => {
    if (!workspace.documentsAt(path).some(({ kind }) => kind === 'Policy')) return true
    const text = new TextDecoder().decode(workspace.files.read(path))
    const pieces = compileEditedPolicies({ files: [{ path, text }], edited: [path] })
    for (let piece = pieces.next(); ; piece = pieces.next()) if (piece.done) return piece.value.policiesOf === undefined
  },
}

describe.each(essential)('%s', (rule) => {
  test('is an error whatever configuration and comments say', async () => {
    const workspace = await brokenBy(rule)
    const said = lintWorkspace(workspace, { rules: { [rule]: 'off' } })
    const found = said.filter((each) => each.rule === rule)
    expect(found).not.toEqual([])
    expect(found.every(({ severity }) => severity === 'error')).toBe(true)
    const suppressed = said.filter((each) => each.rule === 'lint/unused-suppression' && each.message.includes(rule))
    const isReadable = workspace.documents.length > 0 && rule !== 'bundle/symlink' && rule !== 'doc/not-utf8'
    expect(suppressed.length > 0).toBe(isReadable)
  })

  test.each(['off', 'warn'] as const)('cannot be set to %s', (severity) => {
    const message = `lint.rules sets ${rule} to ${severity}: a document that breaks this rule is not compiled.`
    expect(() => lintOptionsOf({ lint: { rules: { [rule]: severity } } })).toThrow(
      fail('config_invalid', { what: message }).message,
    )
    expect(lintOptionsOf({ lint: { rules: { [rule]: 'error' } } }).rules).toEqual({ [rule]: 'error' })
  })

  test.each(Object.entries(entries))('stops a document that is compiled %s', async (_, refuses) => {
    const workspace = await brokenBy(rule)
    const broken = new Set(lintWorkspace(workspace).flatMap((each) => (each.rule === rule ? [each.path] : [])))
    expect(broken.size).toBeGreaterThan(0)
    for (const path of broken) expect([path, await refuses(workspace, path)]).toEqual([path, true])
  })
})

test('a rule that compile does not need is switched off, suppressed and compiled', async () => {
  expect(isEssential('agent/purpose-as-prompt')).toBe(false)
  const files = suppressing(DESK, 'limits/missing-loop')
  const rulesOf = (options: Parameters<typeof lintWorkspace>[1]): string[] =>
    lintWorkspace(loadFiles(DESK), options).map(({ rule }) => rule)
  expect(rulesOf({})).toContain('limits/missing-loop')
  expect(rulesOf({ rules: { 'limits/missing-loop': 'off' } })).not.toContain('limits/missing-loop')
  expect(lintWorkspace(loadFiles(files)).map(({ rule }) => rule)).not.toContain('limits/missing-loop')
  expect(await refusesClosure(loadFiles(files), '')).toBe(false)
  const workspace = loadFiles(whole)
  const policy = workspace.documents.find(({ kind }) => kind === 'Policy')!
  for (const [name, refuses] of Object.entries(entries))
    expect([name, await refuses(workspace, policy.path)]).toEqual([name, false])
})

const LARGE_SCHEMA = { inline: { type: 'object', description: 'long '.repeat(150_000) } }
const LARGE: JsonObject = { input_schema: LARGE_SCHEMA, output_schema: LARGE_SCHEMA }
const DEEP: JsonObject = {
  input_schema: {
    inline: Array.from({ length: 31 }).reduce<JsonObject>((inner) => ({ type: 'object', properties: { inner } }), {}),
  },
}

describe('a version of the registry that breaks an essential rule', () => {
  /** The registry with one document of the bundle, as somebody may have published it before the rules were what they are. */
  async function refusals(path: string, change: (document: JsonObject) => JsonObject): Promise<string[]> {
    const { documents } = await bundleOf(DESK)
    const [name = ''] = /[a-z]+(?=\.yaml)/.exec(path) ?? []
    const listed = documents
      .filter(({ id }) => id.endsWith(`.${name}`))
      .map((each) => ({ ...each, document: change(each.document) }))
    const published = {
      ...nothingPublished,
      tools: (id: string) => Promise.resolve(listed.filter((each) => each.kind === 'Tool' && each.id === id)),
      policies: (id: string) => Promise.resolve(listed.filter((each) => each.kind === 'Policy' && each.id === id)),
    }
    const local = Object.fromEntries(Object.entries(DESK).filter(([each]) => each !== path))
    const { findings } = await compileFiles(local, { published })
    return findings.map((each) => `${each.path}:${each.range.start.line} ${each.rule} ${each.message}`)
  }
  const withSpec = (spec: JsonObject) => (document: JsonObject) => ({
    ...document,
    spec: { ...(document['spec'] as JsonObject), ...spec },
  })

  test.each<[string, string, JsonObject, string[]]>([
    ['is taken where it breaks none', 'policies/small.yaml', {}, []],
    [
      'is refused where it is attached',
      'policies/small.yaml',
      { decision: { type: 'require_approval', approvals_required: 11 } },
      [
        'agents/desk.yaml:18 approval/count-range acme.small@1.0.0 of the registry: approvals_required must be from 1 to 10, but is 11.',
      ],
    ],
    [
      'is refused where it is bound',
      'tools/lookup.yaml',
      { side_effect_class: 'harmless' },
      [
        'agents/desk.yaml:15 doc/schema acme.orders.lookup@1.0.3 of the registry: spec.side_effect_class must be one of `read_only`, `idempotent_write`, `non_idempotent_write`, `irreversible_action`, but is "harmless".',
      ],
    ],
    ['is taken with schemas that are larger together than a file', 'tools/lookup.yaml', LARGE, []],
    ['is taken with a schema that is deeper here than in its file', 'tools/lookup.yaml', DEEP, []],
    [
      'is refused beside schemas that are larger together than a file',
      'tools/lookup.yaml',
      { ...LARGE, wrong: 1 },
      ['agents/desk.yaml:15 doc/unknown-key acme.orders.lookup@1.0.3 of the registry: `wrong` is not a key of spec.'],
    ],
  ])('%s', async (_, path, spec, expected) => {
    expect(await refusals(path, withSpec(spec))).toEqual(expected)
  })
})

test.each([
  ['agents/desk.yaml', 'svc/max-tool-calls'],
  ['agents/desk.yaml', 'svc/max-tokens-per-session'],
  ['agents/desk.yaml', 'svc/max-runs-per-session'],
  ['agents/desk.yaml', 'svc/max-cost-per-run'],
  ['agents/desk.yaml', 'svc/context'],
  ['agents/desk.yaml', 'svc/on-outage'],
  ['agents/desk.yaml', 'svc/max-outage'],
  ['agents/desk.yaml', 'svc/model-fallback'],
  ['agents/desk.yaml', 'svc/input-schema'],
])('in %s an empty %s is refused by lint and compile: it does not count as absent', async (path, name) => {
  const text = DESK[path]!.replace(/^metadata:\n/m, `metadata:\n  annotations: { ${name}: '' }\n`)
  const workspace = loadFiles({ ...DESK, [path]: text })
  const errors = lintWorkspace(workspace).filter(({ severity }) => severity === 'error')
  expect([errors.length > 0, await refusesClosure(workspace, '')]).toEqual([true, true])
})

/** Values in the place of another one: of the wrong type, form or range. */
const ODD = ['""', '0', '-1', '0.5', 'x', 'a.b@^1', '../x', '/x', 'agents/x.yaml', 'tool:x', 'null', '{}', '[]', 'a b!']

/** Documents in which one value is another one, or one line is left out. */
function broken(files: Files): Files[] {
  return Object.entries(files).flatMap(([path, text]) => {
    const lines = text.split('\n')
    return lines.flatMap((line, at) => {
      const withLine = (...instead: string[]): Files => ({
        ...files,
        [path]: lines.toSpliced(at, 1, ...instead).join('\n'),
      })
      const values = [...line.matchAll(/(?<=: |\[|, |- )("[^"]*"|'[^']*'|[^\s,{}[\]"'][^,{}[\]"']*)/g)]
      const replaced = values.flatMap(({ index, 0: value }) =>
        ODD.map((odd) => withLine(line.slice(0, index) + odd + line.slice(index + value.length))),
      )
      const late = /^( +)(?:- )?ref: agents/.exec(line)
      return [withLine(), ...replaced, ...(late ? [withLine(line, `${late[1]}  late_bound: true`)] : [])]
    })
  })
}

test('what the essential rules let through is compiled, or refused with a finding', async () => {
  const all = [...broken(DESK), ...broken(whole)]
  const step = Math.ceil(all.length / cases(1200))
  const ended = { compiled: 0, refused: 0 }
  // An empty text takes the way of no text, too: all of them.
  const isTried = (files: Files, at: number): boolean =>
    at % step === 0 || Object.values(files).some((text) => /: ""$/m.test(text))
  for (const files of all.filter(isTried)) {
    // An error that is no Failure fails the test: lint and compile disagree.
    const refused = await refusesClosure(loadFiles(files), '')
    ended[refused ? 'refused' : 'compiled'] += 1
  }
  expect(Math.min(ended.compiled, ended.refused)).toBeGreaterThan(50)
})
