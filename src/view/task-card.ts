/**
 * The content of a task's card: the words, their order and their escapes, without layout or colour. A terminal and a
 * browser draw the same card from it. Source: docs/design/approvals.md#the-card
 */
import type { Instant } from '../base/clock.ts'
import { shortenText } from '../base/cut-text.ts'
import { safeBlock, safeJson, safeText } from '../base/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { shortId, timeLeft } from '../base/short-text.ts'
import { PROOF_NAMES, type DecisionProof } from '../spec/decision-proof.ts'
import {
  currencyOf,
  isMoneyName,
  isRecipientName,
  splitComparisons,
  weighArguments,
  type ArgumentWeight,
} from './call-arguments.ts'
import { describeSource } from '../spec/source.ts'
import type { DecidedPolicy } from '../spec/step.ts'
import {
  questionFieldsIn,
  isRequired,
  secretFieldsIn,
  wordsOfTask,
  type TaskQuestion,
} from '../spec/server-question.ts'
import {
  isIrreversibleCall,
  needsSecondAct,
  type ShownTask,
  type TaskEvidence,
  type TaskPeople,
  type TaskRequest,
  type TaskStanding,
  type ToldChannel,
} from '../spec/task.ts'

/** Every text is escaped: none can move, hide or end what is drawn around it. */
export interface TaskCard {
  /** The kind of decision and its call. */
  readonly title: string
  /** Side-effect class of the call; absent where no call is held. */
  readonly sideEffect?: string
  /** True for an irreversible or undeclared call: every value must be shown before it can be approved. */
  readonly isIrreversible: boolean
  /** See `needsSecondAct`. */
  readonly needsSecondAct: boolean
  /** For example `expires in 30m (then deny)`; absent where the task does not expire. */
  readonly deadline?: string
  readonly rows: readonly CardRow[]
  /** Digest of the shown arguments; an answer repeats it. */
  readonly argumentsDigest?: string
}

export type CardRow = CardText | CardValues

/** A paragraph of text; `place` is where in the documents it comes from. */
interface CardText {
  readonly label: string
  readonly text: string
  /** `danger`: nothing on the card is louder. */
  readonly emphasis?: 'name' | 'strong' | 'waiting' | 'danger'
  readonly place?: string
  /** Id of the run that it speaks of. */
  readonly runId?: string
}

/** Untrusted values: to be fenced, so that none can imitate a row of the card. */
interface CardValues {
  readonly label: string
  readonly values: readonly CardValue[]
  /** They tell about the call, and are not what is approved: a card may show them in part. */
  readonly isAside?: true
}

export interface CardValue {
  /** Empty where the value is not an object, and so has no names. */
  readonly name: string
  /** As JSON in one line, whole. */
  readonly text: string
  /** A text of several lines, each escaped as in JSON but for its quotes; absent for every other value. */
  readonly lines?: readonly string[]
  readonly value: JsonValue
  /** Reasons for attention, strongest first; absent if there are none. */
  readonly weights?: readonly ArgumentWeight[]
  /** Currency of an amount. */
  readonly unit?: string
  /** The comparison that stopped the call, and its place in the documents. */
  readonly limit?: string
  readonly place?: string
}

export function presentTask(task: ShownTask, now: Instant): TaskCard {
  const deadline = describeDeadline(task, now)
  const { tool } = task
  const name = tool && `${tool.ref}${tool.version && `@${tool.version}`}`
  return {
    title: [TITLES[task.kind] ?? task.kind, name]
      .filter((each) => each !== undefined)
      .map(safeText)
      .join(' · '),
    ...(tool && { sideEffect: safeText(tool.side_effect_class ?? 'undeclared class') }),
    isIrreversible: isIrreversibleCall(task),
    needsSecondAct: needsSecondAct(task),
    ...(deadline !== undefined && { deadline: safeText(deadline) }),
    rows: rowsOf(task),
    ...(task.argumentsDigest !== undefined && { argumentsDigest: safeText(task.argumentsDigest) }),
  }
}

/** Who approved or edited, where only the identity is known: a key is then named by its last digits. Not escaped. */
export const describeApprover = (by: string): string =>
  by
    .replace(KEY_ID, (_, id: string) => `key ${shortId(id)}`)
    .replace(/^operator:(.*)$/, (_, id: string) => describeOperator(id))
    .replace(/^claimed:(.*)$/, (_, id: string) => describeClaimed(id))

/** An API key as approver. */
const KEY_ID = /^key:([0-9a-f-]{36})$/

/** The first policy that stopped the call, in one line, with the values of its condition. Not escaped. */
export function describeCause(task: TaskRequest): string {
  const policy = task.policies?.find(({ matched }) => matched !== false)
  if (!policy) return wordsOfTask(task)
  const earlier = earlierCallIn(task.prompt)
  return `${policy.id}@${policy.version}: ${policy.condition ?? policy.decision}${earlier === undefined ? '' : `; ${earlier}`}`
}

/** What a question says of a call that was made before, behind the sentence about its policy. */
const earlierCallIn = (question = ''): string | undefined =>
  /\bthe same tool was called with (?:the same|other) arguments before in .+$/i.exec(question)?.[0]

/**
 * What a task is about, in one line for lists and messages: the summary of the call; `acme.refunds amount 180 EUR, order A-1042`
 * where its tool declares none; the question where no call is held.
 */
export function describeSubject(task: TaskRequest): string {
  const { tool, summary, arguments: args } = task
  if (summary !== undefined) return safeText(summary)
  if (tool === undefined) return safeText(shortenText(wordsOfTask(task).replaceAll(/\s+/g, ' '), MOST_OF_SUBJECT))
  const key = findKeyArgument(args)
  const unit = currencyOf(args)
  const facts = [
    ...(typeof key?.value === 'number'
      ? [`${key.name} ${key.value}${unit !== undefined && isMoneyName(key.name) ? ` ${unit}` : ''}`]
      : []),
    ...describeCounterpart(args, unit),
  ]
  return safeText([tool.ref, ...(facts.length > 0 ? [facts.join(', ')] : [])].join(' '))
}

const MOST_OF_SUBJECT = 120

/** The recipient of a call, else its first text that is one word: `order A-1042`. */
function describeCounterpart(args: JsonValue | undefined, unit: string | undefined): readonly string[] {
  if (!isJsonObject(args)) return []
  const words = Object.entries(args).flatMap(([name, value]) =>
    typeof value === 'string' && SHORT_WORD.test(value) && value !== unit ? [[name, value] as const] : [],
  )
  const [name, value] = words.find(([each]) => isRecipientName(each)) ?? words[0] ?? []
  return name === undefined ? [] : [`${name} ${value}`]
}

const SHORT_WORD = /^[\w.@#+/:-]{1,40}$/

/** The most telling argument of a call: the first number, else the first non-empty text. */
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

/** The kind of a task for people. */
export const nameOfKind = (kind: string): string => KINDS[kind] ?? kind.replaceAll('_', ' ')

const KINDS: Readonly<Record<string, string>> = {
  multi_option: 'choice',
  text: 'answer',
  aitl_escalation: 'agent question',
  anomaly_review: 'unknown outcome',
}

const TITLES: Readonly<Record<string, string>> = {
  approval: 'Approval needed',
  escalation: 'Decision of an operator needed',
  multi_option: 'Choice needed',
  text: 'Answer needed',
  number: 'Number needed',
  aitl_escalation: 'An agent asks an operator',
  anomaly_review: 'Outcome unknown',
  reply: 'Reply needed',
}

function describeDeadline({ expiresAt, onTimeout }: TaskRequest, now: Instant): string | undefined {
  if (expiresAt === undefined) return undefined
  const left = expiresAt - now
  const then = onTimeout ? ` (then ${onTimeout})` : ''
  return left <= 0 ? `expired${then}` : `expires in ${timeLeft(left)}${then}`
}

function rowsOf(task: ShownTask): CardRow[] {
  const rows: CardRow[] = []
  const add = (label: string, text: string, more: Omit<CardText, 'label' | 'text'> = {}): void =>
    void rows.push({ label, text: safeBlock(text), ...more })
  const policies = decisivePolicies(task.policies ?? [])
  const { people } = task
  const isTold =
    policies.some((policy) => isToldBy(policy, task.prompt ?? '')) ||
    (task.reason !== undefined && DEFAULT_QUESTION.test(task.prompt ?? ''))
  const isRepetition = task.effect?.previous !== undefined && task.prompt?.startsWith('effect_repeated: ')
  const earlier = isTold ? earlierCallIn(task.prompt) : undefined
  const { key = '', previous } = task.effect ?? {}
  if (previous) add('repeats', describeRepeated(key, previous), { emphasis: 'danger', ...runOf(previous) })
  if (earlier !== undefined) add('repeats', earlier, { emphasis: 'danger', ...runOf(task.context?.['earlier_call']) })
  if (task.summary !== undefined) add('does', task.summary, { emphasis: 'strong' })
  if (task.question) rows.push(...questionRows(task, task.question))
  else if (task.prompt && !isTold && !isRepetition) add('question', task.prompt, { emphasis: 'strong' })
  if (task.arguments !== undefined) rows.push({ label: 'with', values: toArgumentValues(task.arguments, policies) })
  const { undoes, earlier_call: earlierCall, ...context } = task.context ?? {}
  // Directly below the arguments of the call, so that they can be compared.
  if (isJsonObject(earlierCall) && earlierCall['arguments'] !== undefined)
    rows.push({ label: 'before', values: toArgumentValues(earlierCall['arguments'], []) })
  if (isJsonObject(undoes)) add('undoes', describeUndoneCall(undoes), { emphasis: 'strong' })
  if (task.reasoning !== undefined) rows.push({ label: 'says', values: toCardValues(task.reasoning), isAside: true })
  if (task.evidence) rows.push({ label: 'checked', values: task.evidence.map(toEvidenceValue), isAside: true })
  for (const [path, names] of Object.entries(task.sources ?? {}))
    add('from', `${path}: ${names.map(describeSource).join('; ')}`)
  const edit = task.edits?.at(-1)
  if (edit) add('edited', `by ${people?.editedBy ?? describeApprover(edit.approver)}; earlier votes do not count`)
  for (const policy of policies) add('why', describeWhy(policy, task.arguments), placeOf(policy, task.arguments))
  const untold = untoldReason(task, policies)
  if (untold) add('reason', untold)
  if (task.authorityRef) add('authority', task.authorityRef)
  add('asks', `${task.agent} · run ${shortId(task.runId)}`, { emphasis: 'name' })
  if (people) add('for', people.startedBy)
  if (Object.keys(context).length > 0) rows.push({ label: 'context', values: toCardValues(context) })
  for (const [at, option] of (task.options ?? []).entries())
    add(at === 0 ? 'options' : '', `${at + 1}  ${option.label}`)
  if (task.min !== undefined || task.max !== undefined) add('bounds', `${task.min ?? '−∞'} to ${task.max ?? '∞'}`)
  if (task.approvalsRequired !== undefined) add('votes', describeVotes(task))
  if (task.comprehensionRequired) add('read', 'Approving needs a confirmation that the arguments were read.')
  if (task.approvalProof !== undefined && task.approvalProof !== 'none')
    add('proof', `Approving takes ${PROOF_NAMES[task.approvalProof] ?? safeText(task.approvalProof)}.`)
  if (people?.told) add('told', people.told.map(describeTold).join('\n'))
  const looking = people?.decided ? undefined : describeLooking(people)
  if (looking !== undefined) add('looking', looking)
  if (people?.decided) add('decided', describeDecided(people.decided), { emphasis: 'strong' })
  const ways = people === undefined ? [] : listWays(people)
  if (ways.length > 0) add('how', ways.join('\n'))
  if (people && !people.decided && people.standing !== 'may_answer')
    add('you', STANDINGS[people.standing](people), { emphasis: 'waiting' })
  return rows
}

/** The question of a server: its words are fenced, and the card says who wrote them. */
function questionRows({ prompt = '' }: ShownTask, { server, tool, schema, url }: TaskQuestion): CardRow[] {
  const text = (label: string, value: string, emphasis?: 'danger'): CardRow => ({
    label,
    text: safeBlock(value),
    ...(emphasis && { emphasis }),
  })
  const fields = questionFieldsIn(schema).map(({ name, schema: field }) =>
    describeField(name, field, isRequired(schema, name)),
  )
  const secrets = secretFieldsIn(schema)
  const asked = secrets.length === 0 ? '' : `It seems to ask for one (${secrets.join(', ')}). `
  return [
    { label: 'question', values: toCardValues(prompt) },
    text('author', `MCP server ${server}, in a call of ${tool}. svc has not checked what it says.`),
    ...(url === undefined
      ? [
          ...(fields.length === 0 ? [] : [{ label: 'fields', values: fields }]),
          text('secrets', `${asked}Give it no password, key or token.`, secrets.length > 0 ? 'danger' : undefined),
        ]
      : [text('host', new URL(url).host), text('address', url)]),
  ]
}

/** `age (required)  {"type":"integer","minimum":18}`. */
const describeField = (name: string, field: JsonObject, isNeeded: boolean): CardValue => ({
  ...toCardValue(name, field),
  name: `${safeJson(name).slice(1, -1)}${isNeeded ? ' (required)' : ''}`,
})

/** The run that a row leads to, where its id is one. */
const runOf = (earlier: JsonValue | undefined): Pick<CardText, 'runId'> => {
  const id = isJsonObject(earlier) ? earlier['run_id'] : undefined
  return typeof id === 'string' && /^[\da-f-]{36}$/.test(id) ? { runId: id } : {}
}

/** `acme.fraud-check (about order)  {"risk":"low"}`. */
const toEvidenceValue = ({ ref, about, result, failed }: TaskEvidence): CardValue => ({
  name: safeText([ref, ...(about.length > 0 ? [`(about ${about.join(', ')})`] : [])].join(' ')),
  text: safeText(failed ? `failed: ${result}` : result),
  value: result,
})

/** A person by the name of their credential; the local identity has none. Not escaped. */
export const describeOperator = (id: string): string => (id === 'operator' ? 'the operator' : `operator ${id}`)

/** Somebody whose name was only typed. Not escaped. */
export const describeClaimed = (name: string): string => `${name} (claimed, not proved)`

/** `approved by operator ana: checked with the customer`. Not escaped. */
export const describeDecided = ({ by, outcome, comment }: NonNullable<TaskPeople['decided']>): string =>
  `${outcome.replaceAll('_', ' ')}${by === 'nobody' ? '' : ` by ${by}`}${comment === undefined ? '' : `: ${comment}`}`

/** How each vote came, or the answer that decided alone. */
function listWays({ votes, decided }: TaskPeople): readonly string[] {
  if (votes.length > 1 || !decided) return votes.flatMap(({ by, how }) => (how === undefined ? [] : [`${by} ${how}`]))
  return decided.how === undefined ? [] : [decided.how]
}

/** `in the console, with a passkey`; for channels that a newer server knows, their name. Not escaped. */
export const describeOrigin = (channel: string, proof: string): string =>
  channel === 'slack'
    ? 'in Slack, as the person of their e-mail address'
    : `${CHANNELS[channel] ?? `by ${channel}`}, with ${PROOF_NAMES[proof as DecisionProof] ?? proof}`

const CHANNELS: Readonly<Record<string, string>> = {
  api: 'over the API',
  operator: 'on the operator channel',
  console: 'in the console',
  scenario: 'in a scenario',
}

/** `operator ana is looking`; undefined where nobody has said so. Not escaped. */
export function describeLooking({ looking = [] }: Pick<TaskPeople, 'looking'> = {}): string | undefined {
  const names = looking.map(({ by, isYou }) => (isYou ? 'you' : by))
  if (names.length === 0) return undefined
  const verb = names.length > 1 || names[0] === 'you' ? 'are' : 'is'
  return `${names.join(' and ')} ${verb} looking`
}

/** `ops: asked, delivered 2026-11-29 10:00 UTC`. */
const describeTold = ({ channel, event, state, at }: ToldChannel): string =>
  `${channel}: ${TOLD_EVENTS[event] ?? event}, ${TOLD_STATES[state] ?? state} ${at.slice(0, 16).replace('T', ' ')} UTC`

const TOLD_EVENTS: Readonly<Record<string, string>> = {
  'task.created': 'asked',
  'task.expiring': 'reminded',
  'task.decided': 'told of the decision',
  'run.reviewed': 'told of the review',
  'budget.reached': 'told of the limit',
}

const TOLD_STATES: Readonly<Record<string, string>> = {
  waiting: 'due',
  moot: 'not needed since',
  dead: 'not delivered, given up',
}

const STANDINGS: Readonly<Record<Exclude<TaskStanding, 'may_answer'>, (people: TaskPeople) => string>> = {
  voted: ({ you }) => `${you} has voted; somebody else decides now`,
  starter: ({ you }) => `${you} started this run, so somebody else decides`,
  no_role: ({ you, role }) => `${you} does not have the role ${role}`,
  no_proof: ({ you }) => `${you} has shown no credential, and only people with one decide this`,
}

/** Why the reader may not decide the task, in a few words; undefined if they may. Not escaped. */
export function describeNotYours({ standing, role }: Pick<TaskPeople, 'standing' | 'role'>): string | undefined {
  switch (standing) {
    case 'may_answer':
      return undefined
    case 'no_role':
      return `needs the role ${role}`
    case 'voted':
      return 'you have voted'
    case 'no_proof':
      return 'needs your credential'
    default:
      return 'you started the run'
  }
}

/** `1 of 2: operator ana; waits for another treasurer: operator bo or operator cleo`. Not escaped. */
function describeVotes(task: ShownTask): string {
  const { approvalsReceived: have, approvalsRequired: need = 1, people } = task
  const voters = people?.votes.filter(({ approved }) => approved).map(({ by }) => by) ?? []
  const count = `${have} of ${need}${voters.length > 0 ? `: ${voters.join(', ')}` : ''}`
  const missing = describeMissing(task)
  return missing === undefined ? count : `${count}; ${missing}`
}

/** `waits for another treasurer: operator bo or operator cleo`; undefined where anybody may answer alone. Not escaped. */
export function describeMissing({
  approvalsReceived: have,
  approvalsRequired: need = 1,
  people,
}: Pick<ShownTask, 'approvalsReceived' | 'approvalsRequired' | 'people'>): string | undefined {
  const missing = need - have
  const { role, candidates = [] } = people ?? {}
  if (missing <= 0 || (need === 1 && role === undefined)) return undefined
  const many = role === undefined ? `${missing} people` : `${missing} with the role ${role}`
  const count = missing > 1 ? many : `${have > 0 ? 'another' : 'a'} ${role ?? 'person'}`
  const named = role !== undefined && candidates.length > 0
  return `waits for ${count}${named ? `: ${candidates.join(' or ')}` : ''}`
}

/** `refund:A-1 was made at …, by run 3f2a91 of acme.desk; approved by operator ana; with other arguments`. Not escaped. */
function describeRepeated(key: string, previous: JsonObject): string {
  const text = (name: string): string => (typeof previous[name] === 'string' ? previous[name] : '')
  const approvers = Array.isArray(previous['approved_by']) ? previous['approved_by'] : []
  const names = approvers.filter((each) => typeof each === 'string').map(describeApprover)
  const made = REPEATED[text('outcome')] ?? 'may have been made at'
  return [
    `${key} ${made} ${text('at').replace(ISO_TIME, '$1 $2 UTC')}, by run ${shortId(text('run_id'))} of ${text('agent')}`,
    names.length > 0 ? `approved by ${names.join(', ')}` : 'no approval was needed',
    ...(previous['same_args'] === false ? ['with other arguments'] : []),
  ].join('; ')
}

/** `acme.bookings of run 3f2a91, for operator ana: booked twice`. Not escaped. */
function describeUndoneCall(undoes: JsonObject): string {
  const text = (name: string): string => (typeof undoes[name] === 'string' ? undoes[name] : '')
  const reason = text('reason') === '' ? '' : `: ${text('reason')}`
  return `${text('tool')} of run ${shortId(text('run_id'))}, for ${describeApprover(text('asked_by'))}${reason}`
}

/** Absolute, since the digest of the card covers it. */
const ISO_TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/

const REPEATED: Readonly<Record<string, string>> = {
  done: 'was made at',
  unknown: 'may have been made at',
  in_flight: 'is under way since',
}

/** The reason, and the condition unless it stands beside its argument. */
function describeWhy(policy: DecidedPolicy, args: JsonValue | undefined): string {
  const { condition = '', reason } = policy
  const shown = isBesideArgument(policy, args) ? '' : condition
  const because = [shown, reason ?? ''].filter((each) => each !== '').join(': ')
  const unknown = policy.matched === null ? ' (could not be told)' : ''
  return `${because || nameOfPolicy(policy)}${unknown}`
}

function placeOf(policy: DecidedPolicy, args: JsonValue | undefined): Omit<CardText, 'label' | 'text'> {
  const { condition, reason, source } = policy
  const isBeside = isBesideArgument(policy, args)
  const place = isBeside ? undefined : source
  const isNamed = (isBeside || !condition) && !reason
  const parts = [isNamed ? undefined : nameOfPolicy(policy), place].filter((each) => each !== undefined)
  return parts.length === 0 ? {} : { place: safeText(parts.join('  ')) }
}

const nameOfPolicy = ({ id, version }: DecidedPolicy): string => `${id}${version && `@${version}`}`

/** True where the whole condition is one comparison of an argument that is shown with it. */
function isBesideArgument({ condition = '', matched }: DecidedPolicy, args: JsonValue | undefined): boolean {
  const [only, ...more] = splitComparisons(condition)
  return (
    matched === true &&
    only !== undefined &&
    more.length === 0 &&
    condition.startsWith(`${only.text} (`) &&
    isJsonObject(args) &&
    Object.hasOwn(args, only.argument)
  )
}

/** The part of the task's reason that comes from no policy. */
function untoldReason({ reason, effect }: ShownTask, policies: readonly DecidedPolicy[]): string | undefined {
  const told = new Set([...policies.map((policy) => policy.reason), ...(effect?.previous ? ['effect_repeated'] : [])])
  const parts = reason?.split('; ').filter((part) => !told.has(part)) ?? []
  return told.has(reason ?? null) || parts.length === 0 ? undefined : parts.join('; ')
}

const toArgumentValues = (args: JsonValue, policies: readonly DecidedPolicy[]): CardValue[] => {
  if (!isJsonObject(args)) return toCardValues(args)
  const currency = currencyOf(args)
  return weighArguments(args, policies).map(({ name, value, weights, limit, place }) => ({
    ...toCardValue(name, value),
    ...(weights.length > 0 && { weights }),
    ...(weights.includes('money') && currency !== undefined && { unit: safeText(currency) }),
    ...(limit !== undefined && { limit: safeText(limit) }),
    ...(place !== undefined && { place: safeText(place) }),
  }))
}

const toCardValues = (value: JsonValue): CardValue[] =>
  isJsonObject(value)
    ? Object.entries(value).map(([name, each]) => toCardValue(name, each))
    : [toCardValue(undefined, value)]

function toCardValue(name: string | undefined, value: JsonValue): CardValue {
  const isBlock = typeof value === 'string' && value.trimEnd().includes('\n')
  return {
    name: name === undefined ? '' : safeJson(name).slice(1, -1),
    text: safeJson(value),
    ...(isBlock && {
      lines: value.split('\n').map((line) =>
        safeJson(line)
          .slice(1, -1)
          .replaceAll(String.raw`\"`, '"'),
      ),
    }),
    value,
  }
}

/** The policies that stopped the call; if none did, all that matched. */
export function decisivePolicies(policies: readonly DecidedPolicy[]): readonly DecidedPolicy[] {
  const matching = policies.filter(({ matched }) => matched !== false)
  const stopping = matching.filter(({ decision }) => decision !== 'allow')
  return stopping.length > 0 ? stopping : matching
}

/** True where the question only repeats a policy and its condition, which the row `why` shows, or the reason. */
const isToldBy = ({ id, version, condition = '' }: DecidedPolicy, question: string): boolean =>
  ['requires an approval', 'escalates the call to an operator'].some((verb) =>
    question.startsWith(`${id}@${version} ${verb}${condition === '' ? '' : `: ${condition}`}.`),
  )

/** The reason of an approval that no policy required, because the call cannot be undone. */
const DEFAULT_QUESTION = /^An irreversible_action requires an approval, and no policy grants it\.$/
