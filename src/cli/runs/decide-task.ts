/** Asks a person to decide a task: draws the card, reads keys, sends the answer. */
import { fail, isFailure } from '../../base/failure.ts'
import { InexactNumberError, isExactNumber } from '../../base/exact-number.ts'
import { isJsonObject, parseJson as parse, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { TaskDecision, SvcClient } from '../../client/index.ts'
import { toAnswerBody } from '../../client/tasks.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { ShownTask } from '../../spec/task.ts'
import { presentTask } from '../../spec/task-card.ts'
import { drawApproval } from '../../terminal/approval.ts'
import { safeJson, safeText } from '../../base/escape-text.ts'
import { drawTimeline } from '../../terminal/timeline.ts'
import { askAcknowledgement } from './acknowledge.ts'
import type { CommandContext } from '../shell/command.ts'
import { parseJson } from './input.ts'
import { messageScreen } from '../shell/list.ts'
import type { OperatorClient } from '../project/operator.ts'
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

/** `answered`: accepted; `later`: left open by the person; `gone`: decided by somebody else, or expired. */
export type DecisionEnd = 'answered' | 'later' | 'gone'

/**
 * Shows the task and asks until it is answered or left open. There is no default answer.
 * @param signal fires when the task was closed elsewhere
 */
export async function decideTask(
  session: TaskPromptContext,
  runId: string,
  task: ShownTask,
  signal: AbortSignal,
): Promise<DecisionEnd> {
  const { out } = session.call
  if (!task.apiCompletable && !session.operator) {
    out.message(`task ${task.id.slice(-6)} (${task.kind}) can only be completed by an operator: svc inbox`)
    return 'later'
  }
  for (;;) {
    const decision = await ask(session, runId, task, signal)
    if (decision === 'later') return 'later'
    if (decision === 'again') continue
    const answer = await session.answering.sendRunMessage(runId, toAnswerBody(task, decision))
    if (answer.error === undefined) {
      out.message(`  ${describeDecision(decision)}`)
      return 'answered'
    }
    out.message(`error[${answer.code ?? 'conflict'}]: ${safeText(answer.error)}`)
    if (answer.code === 'not_an_approver')
      out.hint('the run waits for somebody else, and goes on here when they have decided')
    if (!RETRYABLE.has(answer.code)) return 'gone'
  }
}

/** Refusals after which the same person can try again. */
const RETRYABLE: ReadonlySet<MessageAccepted['code']> = new Set(['invalid_value', 'acknowledgement_required'])

const describeDecision = (decision: TaskDecision): string =>
  decision.arguments
    ? 'approved as edited; checked again by schema and policies'
    : decision.approved === true
      ? 'approved'
      : decision.approved === false
        ? 'rejected'
        : 'answered'

type PromptAnswer = TaskDecision | 'later' | 'again'

async function ask(
  { call, client, operator }: TaskPromptContext,
  runId: string,
  task: ShownTask,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const { io } = call
  const screen = messageScreen(call)
  const card = presentTask(task, io.clock.now())
  screen.lines(...drawApproval(screen, card))
  const key = await io.prompts.key(
    '?',
    card.actions.map((each) => each.key),
    signal,
  )
  switch (key) {
    case 'a':
      return await askApproval(call, task, signal)
    case 'r': {
      const reason = (await io.prompts.text('Reason:', signal)).trim()
      return { approved: false, ...(reason !== '' && { comment: reason }) }
    }
    case 'e':
      return await askEdit(call, task, signal)
    case 't':
      return await askValue(call, task, signal)
    case 'w':
      screen.lines(...explainTask(screen, task))
      return 'again'
    case 'c': {
      const { items, runs } = await client.getConversation(runId)
      screen.lines(...drawTimeline(screen, items, runs))
      return 'again'
    }
    case 'p':
      screen.lines(...(await probeTask(operator, task)))
      return 'again'
    case 'l':
      return 'later'
    default: {
      const option = task.options?.[Number(key) - 1]
      if (!option) return 'again'
      return task.kind === 'anomaly_review'
        ? await askOutcome(call, task, option.id, signal)
        : { selectedOptionId: option.id }
    }
  }
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

async function askApproval({ io, out }: CommandContext, task: ShownTask, signal: AbortSignal): Promise<PromptAnswer> {
  const output = outputUnderReview(task)
  if (output !== undefined) return { approved: true, textValue: (await io.prompts.edit(output, signal)).trim() }
  if (task.comprehensionRequired !== true) return { approved: true }
  if (await askAcknowledgement(task.arguments, io, signal)) return { approved: true, acknowledged: true }
  out.message('that is not what the call says; nothing was approved')
  return 'again'
}

async function askEdit(call: CommandContext, task: ShownTask, signal: AbortSignal): Promise<PromptAnswer> {
  const { io, out } = call
  const before = JSON.stringify(task.arguments ?? {}, null, 2)
  try {
    const edited = parseJson(await io.prompts.edit(`${before}\n`, signal), 'What was saved')
    if (!isJsonObject(edited)) throw fail('usage', { what: 'Arguments are an object.' })
    if (JSON.stringify(edited, null, 2) === before) {
      out.message('nothing was changed')
      return 'again'
    }
    messageScreen(call).lines(...changesOf(task.arguments ?? {}, edited))
    if ((await io.prompts.key('approve with these arguments?  [y]es  [n]o', ['y', 'n'], signal)) === 'n') return 'again'
    if (task.comprehensionRequired !== true) return { approved: true, arguments: edited }
    if (await askAcknowledgement(edited, io, signal)) return { approved: true, arguments: edited, acknowledged: true }
    return 'again'
  } catch (error) {
    if (!isFailure(error)) throw error
    out.message(error.message)
    return 'again'
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
  { io }: CommandContext,
  { context }: ShownTask,
  optionId: string,
  signal: AbortSignal,
): Promise<TaskDecision> {
  if (optionId !== 'happened') return { selectedOptionId: optionId }
  const otherwise = context?.['probe'] === undefined ? 'none' : 'what a probe found'
  const typed = (await io.prompts.text(`Its result, as JSON or text (empty: ${otherwise}):`, signal)).trim()
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
async function askValue(
  { io, out }: CommandContext,
  { kind, options }: ShownTask,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const typed = (await io.prompts.text('Answer (empty: later):', signal)).trim()
  if (typed === '') return 'later'
  try {
    return valueOf(kind, options, typed)
  } catch (error) {
    if (!isFailure(error)) throw error
    out.message(error.message)
    return 'again'
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
