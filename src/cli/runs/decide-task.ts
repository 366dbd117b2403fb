/** Asks a person to decide a task: draws the card, reads keys, sends the answer. */
import { fail, isFailure } from '../../base/failure.ts'
import { InexactNumberError, isExactNumber } from '../../base/json/exact-number.ts'
import { isJsonObject, parseJson as parse, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { toAnswerBody, type TaskDecision, type SvcClient } from '../../client/index.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { ShownTask } from '../../spec/task.ts'
import { describeDecided, describeSubject, presentTask } from '../../spec/task-card.ts'
import { readInboxItem } from '../../spec/task-content.ts'
import { drawApproval, fitApproval } from '../../terminal/approval.ts'
import type { Canvas } from '../../terminal/screen.ts'
import { safeBlock, safeJson, safeText } from '../../base/escape-text.ts'
import { truncateText, wrapText } from '../../terminal/text.ts'
import { formatRelative } from '../../terminal/time.ts'
import { drawTimeline } from '../../terminal/timeline.ts'
import { askAcknowledgement } from './acknowledge.ts'
import type { CommandContext } from '../shell/command.ts'
import { parseJson } from './input.ts'
import { createInlineSurface, type CardSurface } from './card-surface.ts'
import { describeApproval } from './describe-answer.ts'
import type { OperatorClient } from '../project/operator.ts'
import { openProject } from '../project/project.ts'
import { outputUnderReview } from './output-review.ts'
import { readOption } from '../shell/options.ts'
import { RemoteError } from '../shell/remote.ts'
import { drawProbe } from './task-channel.ts'
import { explainTask } from './why.ts'

export interface TaskPromptContext<Answer = never> {
  readonly call: CommandContext<Answer>
  readonly client: SvcClient
  readonly answering: SvcClient
  /** Absent where a key answers. */
  readonly operator?: OperatorClient
  /** `namespace.name@version` of the run that is followed, as far as it is known. */
  readonly agent: string
}

/**
 * `answered`: accepted, and the task is closed; `voted`: accepted, and others are still needed; `later`: left open by the
 * person; `gone`: decided by somebody else, or expired.
 */
export type DecisionEnd = 'answered' | 'voted' | 'later' | 'gone'

/**
 * Shows the task and asks until it is answered or left open. There is no default answer.
 * @param signal fires when the task was closed elsewhere
 */
export async function decideTask(
  session: TaskPromptContext,
  runId: string,
  task: ShownTask,
  signal: AbortSignal,
  surface: CardSurface = createInlineSurface(session.call),
): Promise<DecisionEnd> {
  const { call } = session
  if (!task.apiCompletable && !session.operator) {
    call.out.message(`task ${task.id.slice(-6)} (${task.kind}) can only be completed by an operator: svc inbox`)
    return 'later'
  }
  const release = call.io.prompts.holdKeys?.()
  try {
    return await decide(createDecision(session, runId, surface, signal), task)
  } catch (error) {
    // Closed elsewhere: the person is told by whom, unless the command itself ends.
    const now =
      signal.aborted && !call.signal.aborted ? await readTask(session, task).catch(() => undefined) : undefined
    if (!now?.people?.decided) {
      surface.end([])
      throw error
    }
    endAsDecided(call, surface, now)
    return 'gone'
  } finally {
    release?.()
  }
}

/** What a card shows beyond the task, and what was done with it. */
interface Decision {
  readonly session: TaskPromptContext
  readonly runId: string
  readonly surface: CardSurface
  readonly signal: AbortSignal
  /** Every folded value was opened. */
  hasViewed: boolean
  /** The open panel, by the key that opens it, and its lines. */
  panel: { readonly key: string; readonly lines: readonly string[] } | undefined
}

const createDecision = (
  session: TaskPromptContext,
  runId: string,
  surface: CardSurface,
  signal: AbortSignal,
): Decision => ({ session, runId, surface, signal, hasViewed: false, panel: undefined })

/** The task as it is now; as it was given where a key sees no tasks by their id. */
async function readTask({ operator }: TaskPromptContext, task: ShownTask): Promise<ShownTask> {
  if (!operator) return task
  const now = readInboxItem(await operator.call('GET /tasks/:id', { id: task.id }))
  return { ...now, agent: now.people ? now.agent : task.agent }
}

async function decide(decision: Decision, given: ShownTask): Promise<DecisionEnd> {
  const { session, surface, runId } = decision
  const { call } = session
  for (;;) {
    const task = await readTask(session, given)
    if (task.people?.decided) {
      endAsDecided(call, surface, task)
      return 'gone'
    }
    const answer = await ask(decision, task)
    if (answer === 'again') continue
    if (answer === 'later') {
      surface.end(surface.canvas.isAccessible ? ['left open'] : [])
      return 'later'
    }
    const accepted = await session.answering.sendRunMessage(runId, toAnswerBody(task, answer))
    const now = await readTask(session, task)
    if (accepted.error === undefined) {
      endAs(call, surface, now, describeOutcome(task, now, answer))
      return isVoteOnly(task, now, answer) ? 'voted' : 'answered'
    }
    if (now.people?.decided) {
      endAsDecided(call, surface, now)
      return 'gone'
    }
    const refusal = `error[${accepted.code ?? 'conflict'}]: ${safeText(accepted.error)}`
    if (RETRYABLE.has(accepted.code)) {
      decision.panel = { key: '', lines: [surface.canvas.theme.bad(refusal)] }
      continue
    }
    endAs(call, surface, now, refusal)
    if (accepted.code === 'not_an_approver')
      call.out.hint('the run waits for somebody else, and goes on here when they have decided')
    return 'gone'
  }
}

/** Refusals after which the same person can try again. */
const RETRYABLE: ReadonlySet<MessageAccepted['code']> = new Set(['invalid_value', 'acknowledgement_required'])

/** The card for good, with its outcome in place of the keys. */
function endAs(call: CommandContext, surface: CardSurface, task: ShownTask, outcome: string): void {
  const card = presentTask(task, call.io.clock.now())
  // The outcome says it.
  const rows = card.rows.filter(({ label }) => label !== 'decided' && label !== 'you')
  const footer = surface.canvas.theme.strong(outcome)
  surface.end(fitApproval(surface.canvas, { ...card, rows }, Number.POSITIVE_INFINITY, { footer }).lines)
}

/** Somebody else was first: says who, and what they decided. */
function endAsDecided(call: CommandContext, surface: CardSurface, task: ShownTask): void {
  endAs(call, surface, task, `answered elsewhere: ${safeText(describeDecided(task.people!.decided!))}`)
}

/** The votes after an answer; a key sees the task as it was before. */
const countVotes = (now: ShownTask) => ({
  have: now.people ? now.approvalsReceived : now.approvalsReceived + 1,
  need: now.approvalsRequired ?? 1,
})

/** True where the answer is a vote and others are still needed. */
function isVoteOnly(before: ShownTask, now: ShownTask, { approved }: TaskDecision): boolean {
  const { have, need } = countVotes(now)
  return approved === true && before.approvalsRequired !== undefined && have < need
}

function describeOutcome(before: ShownTask, now: ShownTask, answer: TaskDecision): string {
  const note = answer.arguments ? 'approved as edited; checked again by schema and policies' : undefined
  if (isVoteOnly(before, now, answer))
    return [note, describeApproval(now, countVotes(now))].filter((part) => part !== undefined).join('; ')
  const who = now.people ? ` by ${safeText(now.people.you)}` : ''
  const word = answer.approved === true ? 'approved' : answer.approved === false ? 'rejected' : 'answered'
  return note ?? `${word}${who}`
}

type PromptAnswer = TaskDecision | 'later' | 'again'

/** Shows the card, and reads one key or a question's answer. */
async function ask(decision: Decision, task: ShownTask): Promise<PromptAnswer> {
  const { session, surface, signal } = decision
  const { call } = session
  const card = presentTask(task, call.io.clock.now())
  const layout = { ...(decision.panel && { below: decision.panel.lines }) }
  const drawn = fitApproval(surface.canvas, card, surface.rows, layout)
  surface.show(drawn.lines)
  const key = await surface.key(
    card.actions.map((each) => each.key),
    signal,
  )
  if (key === undefined) return 'again'
  const isToggled = decision.panel?.key === key
  const panel = async (lines: () => Promise<readonly string[]> | readonly string[]): Promise<'again'> => {
    decision.panel = isToggled ? undefined : { key, lines: await lines() }
    return 'again'
  }
  const { theme } = surface.canvas
  switch (key) {
    case 'a':
      if (card.isIrreversible && drawn.hasFolded && !decision.hasViewed) {
        const text = 'Not approved: the call cannot be undone and part of it is folded. View it whole first: v'
        decision.panel = { key: '', lines: wrapText(text, surface.canvas.width - 2).map(theme.bad) }
        return 'again'
      }
      return await askApproval(decision, task)
    case 'r': {
      const reason = (await surface.text('Reason:', signal)).trim()
      return { approved: false, ...(reason !== '' && { comment: reason }) }
    }
    case 'e':
      return await askEdit(decision, task)
    case 't':
      return await askValue(decision, task)
    case 'v':
      await surface.page(
        drawApproval(surface.canvas, card, { valueLines: Number.POSITIVE_INFINITY, footer: `task ${task.id}` }).lines,
      )
      decision.hasViewed = true
      decision.panel = undefined
      return 'again'
    case 'w':
      return await panel(() => explainTask({ ...surface.canvas, width: surface.canvas.width - 2 }, task))
    case 'h':
      return await panel(() => describeHistory(session, surface, task))
    case 'W':
      return await writePolicy(decision, task)
    case 'c': {
      const { items, runs } = await session.client.getConversation(decision.runId)
      await surface.page(drawTimeline(surface.canvas, items, runs))
      return 'again'
    }
    case 'p':
      return await panel(() => probeTask(session.operator, task))
    case 'l':
      return 'later'
    default: {
      const option = task.options?.[Number(key) - 1]
      if (!option) return 'again'
      return task.kind === 'anomaly_review'
        ? await askOutcome(decision, task, option.id)
        : { selectedOptionId: option.id }
    }
  }
}

/** Proposes the policy that would have decided so, in files beside the data: nothing is deployed. */
async function writePolicy(decision: Decision, task: ShownTask): Promise<'again'> {
  const { session, surface, signal } = decision
  const { call } = session
  const card = presentTask(task, call.io.clock.now())
  const { canvas } = surface
  const footer = canvas.theme.strong('write a policy that would have  [a]llowed  [d]enied  it, or  [n]one')
  surface.show(fitApproval(canvas, card, surface.rows, { footer }).lines)
  const key = await surface.key(['a', 'd', 'n'], signal)
  if (key !== 'a' && key !== 'd') return 'again'
  try {
    const [{ proposePolicy, saveProposal }, { loadWorkspace }] = await Promise.all([
      import('./propose-policy.ts'),
      import('../../documents/workspace/load.ts'),
    ])
    const project = await openProject(call)
    const workspace = await loadWorkspace(project.directory)
    const proposal = proposePolicy(workspace, task, key === 'a' ? 'allow' : 'deny', call.io.clock.now())
    const path = await saveProposal(project.dataDirectory, task, proposal)
    await surface.page(
      safeBlock(proposal.difference)
        .split('\n')
        .map((line) => colorDifference(canvas, line)),
    )
    const text = `Proposed in ${path}; nothing is changed or deployed. To take it: patch -p0 -d ${project.directory} < ${path}`
    decision.panel = { key: 'W', lines: wrapText(safeText(text), canvas.width - 2).map(canvas.theme.ok) }
    return 'again'
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

const colorDifference = ({ theme }: Canvas, line: string): string =>
  line.startsWith('+') ? theme.ok(line) : line.startsWith('-') ? theme.bad(line) : line

/** Most decisions of the past that are shown on the card. */
const SHOWN_HISTORY = 5

/** What people decided about the same tool before. */
async function describeHistory(
  { call, operator }: TaskPromptContext,
  { canvas: { theme, width } }: CardSurface,
  task: ShownTask,
): Promise<readonly string[]> {
  if (!operator) return []
  const { items, total } = await operator.call('GET /tasks/:id/similar', { id: task.id })
  if (items.length === 0) return [theme.dim('No decision about this tool is recorded.')]
  const now = call.io.clock.now()
  const counts = new Map<string, number>()
  for (const { people } of items) counts.set(people!.decided!.outcome, (counts.get(people!.decided!.outcome) ?? 0) + 1)
  const summary = [...counts].map(([outcome, count]) => `${count} ${outcome.replaceAll('_', ' ')}`).join(', ')
  const lines = items.slice(0, SHOWN_HISTORY).map((item) => {
    const decided = item.people!.decided!
    const when = formatRelative(Date.parse(decided.at), now)
    return { text: `${when}  ${describeSubject(readInboxItem(item))}  ${safeText(describeDecided(decided))}`, decided }
  })
  return [
    theme.strong(
      truncateText(`Decided before about ${safeText(task.tool?.ref ?? '')}: ${total} (${summary})`, width - 2),
    ),
    ...lines.map(({ text, decided }) =>
      (decided.outcome === 'approved' ? theme.ok : theme.bad)(truncateText(text, width - 2)),
    ),
  ]
}

/** Result of the probe tool that the author named, or the reason why it cannot be called. */
async function probeTask(operator: OperatorClient | undefined, { id }: ShownTask): Promise<readonly string[]> {
  try {
    return drawProbe(await operator!.call('POST /tasks/:id/probe', { id, body: undefined }))
  } catch (error) {
    if (isFailure(error) || error instanceof RemoteError) return [safeText(error.message)]
    throw error
  }
}

async function askApproval(decision: Decision, task: ShownTask): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const output = outputUnderReview(task)
  if (output !== undefined) return { approved: true, textValue: (await surface.edit(output, signal)).trim() }
  if (task.comprehensionRequired !== true) return { approved: true }
  if (await askAcknowledgement(task.arguments, surface, signal)) return { approved: true, acknowledged: true }
  return again(decision, 'That is not what the call says; nothing was approved.')
}

/** Shows a sentence on the card and asks again. */
function again(decision: Decision, text: string): 'again' {
  const { canvas } = decision.surface
  decision.panel = { key: '', lines: wrapText(safeText(text), canvas.width - 2).map(canvas.theme.bad) }
  return 'again'
}

async function askEdit(decision: Decision, task: ShownTask): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const before = JSON.stringify(task.arguments ?? {}, null, 2)
  try {
    const edited = parseJson(await surface.edit(`${before}\n`, signal), 'What was saved')
    if (!isJsonObject(edited)) throw fail('usage', { what: 'Arguments are an object.' })
    if (JSON.stringify(edited, null, 2) === before) return again(decision, 'Nothing was changed.')
    if (!(await confirmEdit(decision, task, edited))) return 'again'
    if (task.comprehensionRequired !== true) return { approved: true, arguments: edited }
    if (await askAcknowledgement(edited, surface, signal))
      return { approved: true, arguments: edited, acknowledged: true }
    return 'again'
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

/** Shows the difference in place of the keys. */
async function confirmEdit(
  { session, surface, signal }: Decision,
  task: ShownTask,
  edited: JsonObject,
): Promise<boolean> {
  const card = presentTask(task, session.call.io.clock.now())
  const { canvas } = surface
  const footer = canvas.theme.strong('approve with these arguments?  [y]es  [n]o')
  const below = changesOf(task.arguments ?? {}, edited).flatMap((line) => wrapText(line, canvas.width - 2))
  for (;;) {
    surface.show(fitApproval(canvas, card, surface.rows, { below, footer }).lines)
    const key = await surface.key(['y', 'n'], signal)
    if (key !== undefined) return key === 'y'
  }
}

/** The old and new value of each edited argument. */
function changesOf(before: JsonValue, edited: JsonObject): string[] {
  const old = isJsonObject(before) ? before : {}
  const names = [...new Set([...Object.keys(old), ...Object.keys(edited)])]
  const line = (mark: string, name: string, value: JsonValue | undefined): string[] =>
    value === undefined ? [] : [`  ${mark} ${safeText(name)}  ${safeJson(value)}`]
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(edited[name]))
    .flatMap((name) => [...line('-', name, old[name]), ...line('+', name, edited[name])])
}

/** Decision on a call with unknown outcome. If it happened, the person enters the result for the model. */
async function askOutcome(
  { surface, signal }: Decision,
  { context }: ShownTask,
  optionId: string,
): Promise<TaskDecision> {
  if (optionId !== 'happened') return { selectedOptionId: optionId }
  const otherwise = context?.['probe'] === undefined ? 'none' : 'what a probe found'
  const typed = (await surface.text(`Its result, as JSON or text (empty: ${otherwise}):`, signal)).trim()
  return { selectedOptionId: optionId, ...(typed !== '' && { metadata: { 'svc/result': jsonOrText(typed) } }) }
}

export function jsonOrText(typed: string): JsonValue {
  try {
    return parse(typed)
  } catch (error) {
    if (error instanceof InexactNumberError) throw fail('usage', { what: `The result is refused: ${error.message}.` })
    return typed
  }
}

/** Asks for a text, a number or one of many options. An empty line leaves the task open. */
async function askValue(decision: Decision, { kind, options }: ShownTask): Promise<PromptAnswer> {
  const { surface, signal } = decision
  const typed = (await surface.text('Answer (empty: later):', signal)).trim()
  if (typed === '') return 'later'
  try {
    return valueOf(kind, options, typed)
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

/**
 * Parses the typed answer by the kind of the task.
 * @throws Failure `usage`
 */
export function valueOf(kind: string, options: ShownTask['options'], typed: string): TaskDecision {
  if (options && options.length > 0) return { selectedOptionId: readOption(options, typed).id }
  if (kind === 'number') return { numberValue: readNumber(typed) }
  return { textValue: typed }
}

function readNumber(typed: string): number {
  const value = Number(typed)
  if (typed.trim() === '' || !Number.isFinite(value))
    throw fail('usage', { what: `"${typed}" is not a number; use a point as decimal mark.` })
  if (!isExactNumber(typed.trim())) throw fail('usage', { what: `The number ${typed.trim()} cannot be kept exactly.` })
  return value
}
