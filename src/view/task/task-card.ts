/**
 * The content of a task's card: the words, their order and their escapes, without layout or colour. A terminal and a
 * browser draw the same card from it. Source: docs/design/approvals.md#the-card
 */
import type { Instant } from '../../base/clock.ts'
import { safeBlock, safeText } from '../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { shortId, timeLeft } from '../../base/text/short-text.ts'
import { PROOF_NAMES } from '../../spec/people/decision-proof.ts'
import { isRequired, questionFieldsIn, secretFieldsIn, type TaskQuestion } from '../../spec/server-question.ts'
import { isIrreversibleCall, needsSecondAct, type ShownTask, type TaskRequest } from '../../spec/task.ts'
import { DEFAULT_QUESTION, decisivePolicies, describeWhy, isToldBy, placeOf, untoldReason } from './card-policy.ts'
import { describeField, toArgumentValues, toCardValues, toEvidenceValue, type CardValue } from './card-values.ts'
import {
  STANDINGS,
  describeApprover,
  describeDecided,
  describeLooking,
  describeTold,
  describeVotes,
  listWays,
} from './task-people.ts'
import { earlierCallIn } from './task-subject.ts'

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

/** The run that a row leads to, where its id is one. */
const runOf = (earlier: JsonValue | undefined): Pick<CardText, 'runId'> => {
  const id = isJsonObject(earlier) ? earlier['run_id'] : undefined
  return typeof id === 'string' && /^[\da-f-]{36}$/.test(id) ? { runId: id } : {}
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

/** Names as people read them: `from acme.inbox.read (untrusted), in a longer text`. */
function describeSource(name: string): string {
  const isPart = name.startsWith('text:')
  const plain = isPart ? name.slice('text:'.length) : name
  const untrusted = plain.startsWith('untrusted:')
  const who = untrusted ? plain.slice('untrusted:'.length) : plain
  const said = SOURCE_WORDS[who] ?? who.replace(/^tool:/, 'a result of ').replace(/^agent:/, 'the sub-agent ')
  return `${said}${untrusted ? ', whose content is untrusted' : ''}${isPart ? ', as part of a text' : ''}`
}

const SOURCE_WORDS: Readonly<Record<string, string>> = {
  input: 'the input',
  person: 'a person',
  document: 'the documents of the version',
  model: 'the model alone',
  unknown: 'nobody can tell where',
}
