/**
 * What a task shows to the person who decides it: the words, their order and their escapes, without layout or colour. A
 * terminal and a browser draw the same card from it. Source: command line, 2.4 and 2.5.
 */
import type { Instant } from '../base/clock.ts'
import { safeBlock, safeJson, safeText } from '../base/escape-text.ts'
import { isJsonObject, type JsonValue } from '../base/json.ts'
import { shortDuration, shortId } from '../base/short-text.ts'
import type { DecidedPolicy } from './step.ts'
import type { ShownTask, TaskRequest } from './task.ts'

/** Every text is escaped: none can move, hide or end what is drawn around it. */
export interface TaskCard {
  /** What is needed, for which call, of which class. */
  readonly title: string
  /** For example `expires in 30m (then deny)`; absent where the task does not expire. */
  readonly deadline?: string
  readonly rows: readonly CardRow[]
  /** What a person can do, in order. None of it is a default. */
  readonly actions: readonly CardAction[]
  /** Names the arguments that are shown; an answer repeats it. */
  readonly argumentsDigest?: string
}

export type CardRow = CardText | CardValues

/** A paragraph of text; `place` is where in the documents it comes from. */
interface CardText {
  readonly label: string
  readonly text: string
  readonly emphasis?: 'name' | 'strong'
  readonly place?: string
}

/** Values of others: to be fenced, so that none looks like a row of the card. */
interface CardValues {
  readonly label: string
  readonly values: readonly CardValue[]
}

export interface CardValue {
  /** Empty where the value is not an object, and so has no names. */
  readonly name: string
  /** As JSON in one line, whole. */
  readonly text: string
  readonly value: JsonValue
}

/** @property key one character; also the first of `label` */
export interface CardAction {
  readonly key: string
  readonly label: string
}

export function presentTask(task: ShownTask, now: Instant): TaskCard {
  const deadline = describeDeadline(task, now)
  return {
    title: [TITLES[task.kind] ?? task.kind, task.tool?.ref, task.tool?.side_effect_class]
      .filter((each) => each != null)
      .map(safeText)
      .join(' · '),
    ...(deadline !== undefined && { deadline: safeText(deadline) }),
    rows: rowsOf(task),
    actions: actionsOf(task),
    ...(task.argumentsDigest !== undefined && { argumentsDigest: safeText(task.argumentsDigest) }),
  }
}

/** Who approved or edited; a key is named by its last digits. Not escaped. */
export const describeApprover = (by: string): string => by.replace(KEY_ID, (_, id: string) => `key ${shortId(id)}`)

/** An API key as approver. */
const KEY_ID = /^key:([0-9a-f-]{36})$/

/** What stopped the call, in one line: the first policy that matched, with the values its condition saw. Not escaped. */
export function describeCause(task: TaskRequest): string {
  const policy = task.policies?.find(({ matched }) => matched !== 'false')
  if (!policy) return task.prompt ?? task.title
  return `${policy.id}@${policy.version}: ${policy.condition ?? policy.decision}`
}

/** `acme.refunds amount 180`: the tool and its first number; the kind where no call is held. */
export function describeSubject({ tool, kind, arguments: args }: TaskRequest): string {
  const key = findKeyArgument(args)
  return safeText(
    [tool?.ref ?? kind, ...(typeof key?.value === 'number' ? [key.name, String(key.value)] : [])].join(' '),
  )
}

/** The argument that says most about a call: the first number, else the first text that is not empty. */
export function findKeyArgument(
  args: JsonValue | undefined,
): { readonly name: string; readonly value: number | string } | undefined {
  if (!isJsonObject(args)) return undefined
  let text: { readonly name: string; readonly value: string } | undefined
  for (const [name, value] of Object.entries(args)) {
    if (typeof value === 'number') return { name, value }
    if (typeof value === 'string' && value !== '') text ??= { name, value }
  }
  return text
}

const TITLES: Readonly<Record<string, string>> = {
  approval: 'Approval needed',
  escalation: 'Decision of an operator needed',
  multi_option: 'Choice needed',
  text: 'Answer needed',
  number: 'Number needed',
  aitl_escalation: 'An agent asks an operator',
  anomaly_review: 'Outcome unknown',
}

const MINUTE = 60_000

function describeDeadline({ expiresAt, onTimeout }: TaskRequest, now: Instant): string | undefined {
  if (expiresAt === undefined) return undefined
  const left = expiresAt - now
  const then = onTimeout ? ` (then ${onTimeout})` : ''
  // Rounded up, so that a fresh deadline of 30 minutes is not shown as 29.
  const shown = left > MINUTE ? Math.ceil(left / MINUTE) * MINUTE : left
  return left <= 0 ? `expired${then}` : `expires in ${shortDuration(shown)}${then}`
}

function rowsOf(task: ShownTask): CardRow[] {
  const rows: CardRow[] = []
  const add = (label: string, text: string, more: Omit<CardText, 'label' | 'text'> = {}): void =>
    void rows.push({ label, text: safeBlock(text), ...more })
  const policies = decisivePolicies(task.policies ?? [])
  add('asks', `${task.agent} · run ${shortId(task.runId)}`, { emphasis: 'name' })
  if (task.prompt && !policies.some((policy) => isToldBy(policy, task.prompt!)))
    add('question', task.prompt, { emphasis: 'strong' })
  if (task.tool) add('calls', `${task.tool.ref}${task.tool.version && `@${task.tool.version}`}`, { emphasis: 'name' })
  if (task.arguments !== undefined) rows.push({ label: 'with', values: toCardValues(task.arguments) })
  const edit = task.edits?.at(-1)
  if (edit) add('edited', `by ${describeApprover(edit.approver)}`)
  for (const policy of policies) {
    const because = policy.condition || policy.reason || ''
    const unknown = policy.matched === 'unknown' ? ' (could not be told)' : ''
    const id = `${policy.id}${policy.version && `@${policy.version}`}`
    add('why', `${id}${because && `: ${because}`}${unknown}`, policy.source ? { place: safeText(policy.source) } : {})
  }
  if (task.reason) add('reason', task.reason)
  if (task.authorityRef) add('authority', task.authorityRef)
  if (task.context && Object.keys(task.context).length > 0)
    rows.push({ label: 'context', values: toCardValues(task.context) })
  for (const [at, option] of (task.options ?? []).entries())
    add(at === 0 ? 'options' : '', `${at + 1}  ${option.label}`)
  if (task.min !== undefined || task.max !== undefined) add('bounds', `${task.min ?? '−∞'} to ${task.max ?? '∞'}`)
  if (task.approvalsRequired !== undefined) add('votes', `${task.approvalsReceived} of ${task.approvalsRequired}`)
  if (task.comprehensionRequired) add('read', 'Approving needs a confirmation that the arguments were read.')
  return rows
}

const toCardValues = (value: JsonValue): CardValue[] =>
  isJsonObject(value)
    ? Object.entries(value).map(([name, each]) => ({
        name: safeJson(name).slice(1, -1),
        text: safeJson(each),
        value: each,
      }))
    : [{ name: '', text: safeJson(value), value }]

/** The policies that stopped the call; if none did, all that matched. */
function decisivePolicies(policies: readonly DecidedPolicy[]): readonly DecidedPolicy[] {
  const matching = policies.filter(({ matched }) => matched !== 'false')
  const stopping = matching.filter(({ decision }) => decision !== 'allow')
  return stopping.length > 0 ? stopping : matching
}

/** True where the question only repeats the policy and its condition, which the row `why` shows. */
const isToldBy = ({ id, version, condition = '' }: DecidedPolicy, question: string): boolean =>
  question === `${id}@${version} requires an approval: ${condition}.`

const DECIDE: readonly CardAction[] = [
  { key: 'a', label: 'approve' },
  { key: 'r', label: 'reject' },
]
const LOOK: readonly CardAction[] = [
  { key: 'c', label: 'conversation' },
  { key: 'l', label: 'later' },
]
const WHY: CardAction = { key: 'w', label: 'why' }
const EDIT: CardAction = { key: 'e', label: 'edit arguments' }
const PROBE: CardAction = { key: 'p', label: 'probe' }
const TYPE: CardAction = { key: 't', label: 'type the answer' }

function actionsOf({ kind, options = [], context, onModify }: ShownTask): readonly CardAction[] {
  const choices = options.map((_, at): CardAction => ({ key: `${at + 1}`, label: `${at + 1}` }))
  switch (kind) {
    case 'approval':
      return [...DECIDE, ...(onModify === 'reject' ? [] : [EDIT]), WHY, ...LOOK]
    case 'escalation':
      return [...DECIDE, WHY, ...LOOK]
    case 'anomaly_review':
      return [...choices, ...(context?.['probe'] === undefined ? [] : [PROBE]), ...LOOK]
    default:
      return [...(choices.length > 0 && choices.length <= 9 ? choices : [TYPE]), ...LOOK]
  }
}
