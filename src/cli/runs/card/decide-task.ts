/** Asks a person to decide a task: draws the card, reads keys, sends the answer. */
import { safeText } from '../../../base/text/escape-text.ts'
import { toAnswerBody, type TaskDecision } from '../../../client/index.ts'
import type { MessageAccepted } from '../../../spec/api.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { describeDecided } from '../../../view/task/task-people.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import { fitApproval } from '../../../terminal/approval.ts'
import type { TextStyle } from '../../../terminal/theme.ts'
import type { CommandContext } from '../../shell/command.ts'
import { describeApproval } from '../describe-answer.ts'
import { createInlineSurface, type CardSurface } from './card-surface.ts'
import { createDecision, tell, type OpenDecision, type TaskPromptContext } from './open-decision.ts'
import { readCardKey } from './read-key.ts'

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
    endAsDecided(call, surface, now, now.people.decided)
    return 'gone'
  } finally {
    release?.()
  }
}
/** The task as it is now; as it was given where a key sees no tasks by their id. */
async function readTask({ operator }: TaskPromptContext, task: ShownTask): Promise<ShownTask> {
  if (!operator) return task
  const now = readInboxItem(await operator.call('GET /tasks/:id', { id: task.id }))
  return { ...now, agent: now.people ? now.agent : task.agent }
}

async function decide(decision: OpenDecision, given: ShownTask): Promise<DecisionEnd> {
  const { session, surface, runId } = decision
  const { call } = session
  for (;;) {
    const task = await readTask(session, given)
    if (task.people?.decided) {
      endAsDecided(call, surface, task, task.people.decided)
      return 'gone'
    }
    const answer = await readCardKey(decision, task)
    if (answer === 'again') continue
    if (answer === 'later') {
      surface.end(surface.canvas.isAccessible ? ['left open'] : [])
      return 'later'
    }
    const accepted = await session.answering.sendRunMessage(runId, toAnswerBody(task, answer))
    const now = await readTask(session, task)
    if (accepted.error === undefined) {
      const isVote = isVoteOnly(task, now, answer)
      const { ok, bad, waiting } = surface.canvas.theme
      const styleOfAnswer = answer.approved === false ? bad : ok
      endAs(call, surface, now, describeOutcome(task, now, answer), isVote ? waiting : styleOfAnswer)
      return isVote ? 'voted' : 'answered'
    }
    if (now.people?.decided) {
      endAsDecided(call, surface, now, now.people.decided)
      return 'gone'
    }
    const refusal = `error[${accepted.code ?? 'conflict'}]: ${accepted.error}`
    if (RETRYABLE.has(accepted.code)) {
      tell(decision, refusal)
      continue
    }
    endAs(call, surface, now, safeText(refusal), surface.canvas.theme.bad)
    if (accepted.code === 'not_an_approver')
      call.out.hint('the run waits for somebody else, and continues here when they have decided')
    return 'gone'
  }
}

/** Refusals after which the same person can try again. */
const RETRYABLE: ReadonlySet<MessageAccepted['code']> = new Set(['invalid_value', 'acknowledgement_required'])

/** The card for good, with its outcome in place of the keys. */
function endAs(call: CommandContext, surface: CardSurface, task: ShownTask, outcome: string, style: TextStyle): void {
  const card = presentKeyedTask(task, call.io.clock.now())
  // The outcome says it.
  const rows = card.rows.filter(({ label }) => label !== 'decided' && label !== 'you')
  const footer = surface.canvas.theme.strong(style(outcome))
  surface.end(fitApproval(surface.canvas, { ...card, rows }, Number.POSITIVE_INFINITY, { footer }).lines)
}

/** Somebody else was first: says who, and what they decided. */
function endAsDecided(
  call: CommandContext,
  surface: CardSurface,
  task: ShownTask,
  decided: Parameters<typeof describeDecided>[0],
): void {
  const words = `answered elsewhere: ${safeText(describeDecided(decided))}`
  endAs(call, surface, task, words, surface.canvas.theme.waiting)
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
  return note ?? `${nameAnswer(before, answer)}${who}`
}

function nameAnswer({ question }: ShownTask, { approved }: TaskDecision): string {
  if (approved === undefined) return 'answered'
  if (approved) return 'approved'
  return question ? 'declined' : 'rejected'
}
