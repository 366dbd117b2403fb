/** One lint: rules run once, with the facts that they need, and the registry is asked for whatever they look up. */
import { expect, test } from 'vitest'
import { registryQuestions } from '../../src/documents/facts/registry-questions.ts'
import type { PublishedRegistry } from '../../src/documents/facts/rule.ts'
import { lintWorkspace, openLint } from '../../src/documents/lint/lint.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import type { Workspace } from '../../src/documents/workspace/workspace.ts'
import { factsFor } from './rule-facts.ts'
import { loadExample } from './rule-folders.ts'
import { whole } from './whole.ts'

const needy = rules.filter(({ needs }) => needs !== undefined)

test('rules that need a fact wait for it, and run once', async () => {
  const workspace = await loadExample('approval/quorum-unreachable', 'bad')
  const run = openLint(workspace)
  const said = () => run.findings().filter(({ rule }) => rule === 'approval/quorum-unreachable').length
  run.check({})
  expect(said()).toBe(0)
  run.check({ server: { approvers: 1, hiddenTimelines: {} } })
  expect(said()).toBe(1)
  // Facts that arrive later change nothing for a rule that has run.
  run.check({ server: { approvers: 100, hiddenTimelines: {} } })
  expect(said()).toBe(1)
})

test('a fact is needed only where a rule that is not switched off asks about a document that is there', () => {
  const run = openLint(loadFiles(whole))
  expect(run.needs('coverage')).toBe(true)
  expect(openLint(loadFiles(whole), { rules: { 'policy/untested': 'off' } }).needs('coverage')).toBe(false)
  const alone = Object.fromEntries(Object.entries(whole).filter(([path]) => path.startsWith('tools/')))
  expect(openLint(loadFiles(alone)).needs('coverage')).toBe(false)
})

test('every rule with a need has an example that only this fact explains', async () => {
  expect(needy.map(({ name }) => name)).not.toEqual([])
  for (const { name, needs = [] } of needy) {
    const workspace = await loadExample(name, 'bad')
    const facts = factsFor(name, workspace)
    const said = (given: typeof facts): boolean => lintWorkspace(workspace, given).some(({ rule }) => rule === name)
    expect([name, said(facts)]).toEqual([name, true])
    for (const fact of needs) expect([name, fact, said({ ...facts, [fact]: undefined })]).toEqual([name, fact, false])
  }
})

test('a comment that suppresses a rule is not called unused where the rule could not run', () => {
  const path = Object.keys(whole).find((each) => each.startsWith('policies/'))!
  const workspace = loadFiles({ ...whole, [path]: `# svc-lint-disable-file policy/untested\n${whole[path]}` })
  const rulesOf = (options: Parameters<typeof lintWorkspace>[1]): string[] =>
    lintWorkspace(workspace, options).map(({ rule }) => rule)
  expect(rulesOf({})).not.toContain('lint/unused-suppression')
  const { id, version } = workspace.documentsAt(path)[0]!.identity!
  expect(rulesOf({ coverage: new Map([[`${id}@${version}`, []]]) })).toContain('lint/unused-suppression')
})

/** A registry that records the names it is asked for. */
function recordingRegistry(of: PublishedRegistry): {
  readonly registry: PublishedRegistry
  readonly asked: Set<string>
} {
  const asked = new Set<string>()
  return {
    asked,
    registry: {
      versions: (kind, id) => (asked.add(`${kind} ${id}`), of.versions(kind, id)),
      document: (kind, id, version) => (asked.add(`${kind} ${id}`), of.document?.(kind, id, version)),
      yanked: (kind, id, version) => (asked.add(`${kind} ${id}`), of.yanked?.(kind, id, version)),
    },
  }
}

/** Names that the rules look up although nobody fetches them. */
function unforeseen(workspace: Workspace, rule: string, questions = registryQuestions(workspace, true)): string[] {
  const facts = factsFor(rule, workspace)
  const { registry, asked } = recordingRegistry(facts.published!)
  lintWorkspace(workspace, { ...facts, published: registry })
  const foreseen = questions.map(({ kind, id }) => `${kind} ${id}`)
  return [...asked].filter((name) => !foreseen.includes(name)).map((name) => `${rule}: ${name}`)
}

test('the registry is asked for every name that a rule looks up', async () => {
  const missed: string[] = []
  for (const { name } of rules)
    for (const example of ['bad', 'good'] as const) missed.push(...unforeseen(await loadExample(name, example), name))
  expect(missed).toEqual([])
  const workspace = await loadExample('bundle/yanked', 'bad')
  expect(unforeseen(workspace, 'bundle/yanked', [])).toContain('bundle/yanked: Agent ops.published')
})

test('without their published contents, the own documents of a workspace are not asked for', () => {
  // The tool of an MCP server has no document here, and may have one there.
  const outside = { kind: 'Tool', id: 'web.search' }
  expect(registryQuestions(loadFiles(whole), false)).toEqual([outside])
  expect(registryQuestions(loadFiles(whole), true).length).toBeGreaterThan(1)
})
