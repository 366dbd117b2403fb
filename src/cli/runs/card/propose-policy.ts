/**
 * Proposes the policies that would have decided a call as a person wants, with their test, as files and a difference beside
 * the data. Nothing of the project changes and nothing is deployed. Source: docs/design/command-line.md#driving
 */
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { toIsoText, type Instant } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '../../../base/json/json.ts'
import { nodeAt } from '../../../documents/text/node.ts'
import { unifiedDiff } from '../../../documents/fmt/diff.ts'
import { type Document, isIdentified, type IdentifiedDocument } from '../../../documents/text/document.ts'
import type { Workspace } from '../../../documents/workspace/workspace.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { splitComparisons } from '../../../view/task/call-arguments.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import { textAfterLast, textBefore } from '../../../base/text/text-parts.ts'

export type ProposedVerdict = 'allow' | 'deny'

export interface PolicyProposal {
  /** New text of each file, by its path in the project. */
  readonly files: ReadonlyMap<string, string>
  /** What `patch -p0` applies in the project's directory. */
  readonly difference: string
}

/**
 * A denial is a new policy that the agent binds; a permission raises the limits that stopped the call, and grants it where it
 * cannot be undone.
 * @throws Failure `usage` where a condition is not one comparison of a number with a limit, or a document is not in the project
 */
export function proposePolicy(
  workspace: Workspace,
  task: ShownTask,
  verdict: ProposedVerdict,
  now: Instant,
): PolicyProposal {
  const { tool, arguments: args } = task
  if (!tool || !isJsonObject(args)) throw refuse('The task holds no call with arguments.')
  const files = new Map<string, string>()
  const stopping = (task.policies ?? []).filter(
    ({ matched, decision }) => matched !== false && (decision === 'require_approval' || decision === 'escalate'),
  )
  const name = `${textAfterLast(tool.ref, '.')}-${verdict === 'deny' ? 'denied' : 'granted'}-${task.id.slice(-6)}`
  const namespace = textBefore(task.agent, '.')
  const id = `${namespace}.${name}`
  const agent = findDocument(workspace, 'Agent', textBefore(task.agent, '@'))
  if (verdict === 'allow')
    for (const policy of stopping) raiseLimit(files, findDocument(workspace, 'Policy', policy.id), args)
  const needsGrant = verdict === 'allow' && (tool.side_effect_class ?? 'irreversible_action') === 'irreversible_action'
  if (verdict === 'deny' || needsGrant) {
    const condition = conditionLike(stopping[0]?.condition ?? '', args, verdict)
    const directory = dirname(stopping[0] ? findDocument(workspace, 'Policy', stopping[0].id).path : 'policies/x')
    files.set(`${directory}/${name}.yaml`, policyText({ name, namespace, tool: tool.ref, verdict, condition }))
    bindPolicy(files, agent, tool.ref, id)
  }
  files.set(
    `${dirname([...files.keys()][0] ?? 'policies/x')}/${name}.policytest.yaml`,
    testText({ agent: agent.identity.id, tool: tool.ref, args, verdict, now }),
  )
  const difference = [...files]
    .map(([path, text]) => unifiedDiff(path, workspace.files.has(path) ? workspace.text(path) : '', text))
    .join('')
  return { files, difference }
}

/** Writes the files and their difference. @returns path of the difference */
export async function saveProposal(directory: string, task: ShownTask, proposal: PolicyProposal): Promise<string> {
  const target = join(directory, 'proposals', task.id.slice(-6))
  for (const [path, text] of proposal.files) {
    const file = join(target, path)
    await mkdir(dirname(file), { recursive: true })
    await writeUserFile(file, text)
  }
  const difference = join(target, 'change.diff')
  await writeUserFile(difference, proposal.difference)
  return difference
}

const refuse = (what: string): Error => fail('usage', { what }, { fix: 'Edit the policy by hand.' })

function findDocument(workspace: Workspace, kind: 'Agent' | 'Policy', id: string): IdentifiedDocument {
  const found = workspace.documents.filter(isIdentified).find((each) => each.kind === kind && each.identity.id === id)
  if (!found) throw refuse(`The ${kind} ${id} is not among the documents of this project.`)
  return found
}

/** Replaces the limit of a single comparison, so that it no longer stops these arguments. */
function raiseLimit(files: Map<string, string>, document: Document, args: JsonObject): void {
  const id = document.identity?.id ?? document.path
  const at = (key: string) => nodeAt(document.root, ['spec', 'conditions', key])
  const [field, op, value] = [at('field'), at('op'), at('value')]
  const [, argument] = /^args\.([\w-]+)$/.exec(textOf(field?.value)) ?? []
  const given = argument === undefined ? undefined : args[argument]
  if (!op || !value || typeof given !== 'number' || typeof value.value !== 'number')
    throw refuse(`The condition of ${id} is not one comparison of a number with a limit.`)
  const strict = { gt: 'gt', gte: 'gt', lt: 'lt', lte: 'lt' }[textOf(op.value)]
  if (strict === undefined)
    throw refuse(`The condition of ${id} compares with ${textOf(op.value)}, which has no limit.`)
  const before = files.get(document.path) ?? document.source.text
  const edits = [
    { start: op.start, end: op.end, text: strict },
    { start: value.start, end: value.end, text: String(given) },
  ].toSorted((a, b) => b.start - a.start)
  files.set(
    document.path,
    edits.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), before),
  )
}

interface ProposedCondition {
  readonly field: string
  readonly op: string
  readonly value: JsonValue
}

/** The comparison that stopped the call, drawn at the value of this call; of its first argument where there is none. */
function conditionLike(described: string, args: JsonObject, verdict: ProposedVerdict): ProposedCondition {
  const [comparison] = splitComparisons(described)
  const name = comparison?.argument ?? Object.keys(args)[0]
  if (name === undefined || args[name] === undefined || !/^[\w-]+$/.test(name))
    throw refuse('No argument tells this call from others.')
  const value = args[name]
  const [, operator] = /^args\.[\w-]+ (>=?|<=?) /.exec(comparison?.text ?? '') ?? []
  const isUpper = operator?.startsWith('>') ?? true
  const bound = isUpper === (verdict === 'deny') ? 'gte' : 'lte'
  const op = typeof value === 'number' ? bound : 'eq'
  return { field: `args.${name}`, op, value }
}

/** Adds the policy to those that the agent binds to the tool. */
function bindPolicy(files: Map<string, string>, agent: Document, ref: string, id: string): void {
  const bindings = agent.at('spec.tools.*.ref')
  const binding = bindings.find(({ value }) => textOf(value).split('@')[0] === ref)
  const index = binding?.pointer.split('/')[3] ?? ''
  const list = nodeAt(agent.root, ['spec', 'tools', index, 'policies'])
  const items = list && Array.isArray(list.value) ? list.value.length : 0
  const last = items === 0 ? undefined : nodeAt(agent.root, ['spec', 'tools', index, 'policies', `${items - 1}`])
  if (!last || !list) throw refuse(`${agent.path} binds no policies to ${ref}, to which another could be added.`)
  const { text } = agent.source
  const line = text.slice(text.lastIndexOf('\n', last.start - 1) + 1, last.start)
  const added = text[list.start] === '[' ? `, ${id}` : `\n${line}${id}`
  files.set(agent.path, text.slice(0, last.end) + added + text.slice(last.end))
}

const policyText = (policy: {
  readonly name: string
  readonly namespace: string
  readonly tool: string
  readonly verdict: ProposedVerdict
  readonly condition: ProposedCondition
}): string =>
  [
    'apiVersion: svc/v1',
    'kind: Policy',
    'metadata:',
    `  name: ${policy.name}`,
    `  namespace: ${policy.namespace}`,
    '  version: 1.0.0',
    'spec:',
    `  description: ${policy.verdict === 'deny' ? 'Denies' : 'Grants'} calls like one that a person decided.`,
    `  scope: tool:${policy.tool}`,
    '  conditions:',
    `    field: ${policy.condition.field}`,
    `    op: ${policy.condition.op}`,
    `    value: ${JSON.stringify(policy.condition.value)}`,
    '  decision:',
    `    type: ${policy.verdict}`,
    '',
  ].join('\n')

const testText = (test: {
  readonly agent: string
  readonly tool: string
  readonly args: JsonObject
  readonly verdict: ProposedVerdict
  readonly now: Instant
}): string =>
  [
    '# Proposed from a decision. Run: svc policy test',
    `agent: ${test.agent}`,
    'calls:',
    `  - name: a call that a person decided on ${toIsoText(test.now).slice(0, 10)}`,
    `    tool: ${test.tool}`,
    `    args: ${JSON.stringify(test.args)}`,
    `    expect: ${test.verdict}`,
    '',
  ].join('\n')
