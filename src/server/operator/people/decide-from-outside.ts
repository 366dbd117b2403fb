/** The decision of a person who answers by what was sent to them. Source: docs/design/notifications.md#clicks */
import { isFailure } from '../../../base/failure.ts'
import type { RunId } from '../../../base/ids.ts'
import type { NewAct } from '../../../spec/people/act.ts'
import { approverOf } from '../../../spec/people/key.ts'
import { describeDecided } from '../../../view/task/task-people.ts'
import { describeAnswer, recordRefusedAnswer } from '../../acts/act-subjects.ts'
import type { OperatorPrincipal } from '../../auth/auth.ts'
import type { DecidingClick, DeskTask } from '../../notify/channel.ts'
import { writeChatCard } from '../../notify/chat/chat-card.ts'
import { findElsewhereReason, seenOf } from '../../notify/chat/decide-in-chat.ts'
import { describeAct } from '../../runtime/describe-act.ts'
import type { ServerServices } from '../../runtime/services.ts'

/** What a click or a link proves: that somebody reads what was sent to this person. */
const PROOF = 'link'

/**
 * @param readTask the task as it is now, as it is shown outside
 * @returns why nothing was decided, in words; undefined where it was
 */
export async function decideFromOutside(
  services: ServerServices,
  { taskId, seen, approved, comment, email, credentials, channel, address = null, useUp }: DecidingClick,
  readTask: () => Promise<DeskTask | undefined>,
): Promise<string | undefined> {
  const { engine, store, workspace } = services
  const task = await readTask()
  const run = task && (await store.run(task.runId as RunId))
  if (!task || !run) return 'Nothing was decided: the task was deleted.'
  const by: OperatorPrincipal = {
    type: 'operator',
    id: email,
    proof: PROOF,
    workspaceId: workspace.id,
    roles: [...new Set(credentials.flatMap(({ roles }) => roles))],
  }
  const about = describeAnswer(run, { runId: run.id, userTaskId: taskId, approved })
  const act = (kind: NewAct['kind'], what: typeof about): NewAct => ({
    ...describeAct(services, kind, what),
    by: approverOf(by),
    proof: PROOF,
    keyId: null,
    channel,
    address,
  })
  const refuse = async (code: string, words: string): Promise<string> => {
    await recordRefusedAnswer(services, act, about, { status: run.status, error: words, code })
    return `Nothing was decided: ${words}`
  }
  if (task.status !== 'pending') return await refuse('task_already_completed', describeEnd(task))
  const reason = findElsewhereReason(task, writeChatCard(task, true))
  if (reason !== undefined) return await refuse('proof_required', `${reason}. Decide in the console.`)
  if (seenOf(task) !== seen)
    return await refuse('stale_view', 'the task changed since this message was drawn. Read it again, then decide.')
  if (useUp && !(await useUp())) return 'Nothing was decided: this link was used already.'
  const accepted = await engine
    .answer(
      run.id,
      {
        taskId,
        approved,
        by,
        origin: { channel, proof: PROOF },
        ...(comment !== undefined && { text: comment }),
        // Arguments that are edited between this check and the vote are refused by their digest.
        metadata: { 'svc/arguments_digest': task.argumentsDigest! },
      },
      false,
      undefined,
      act('run.answered', about),
    )
    .catch((error: unknown) => {
      if (isFailure(error)) return { status: run.status, error: error.message, code: error.code }
      throw error
    })
  await recordRefusedAnswer(services, act, about, accepted)
  // Somebody was faster.
  const now = accepted.error === undefined ? undefined : await readTask()
  if (now && now.status !== 'pending') return `Nothing was decided: ${describeEnd(now)}`
  if (accepted.error !== undefined) return `Nothing was decided: ${accepted.error}`
  return 'duplicate' in accepted && accepted.duplicate ? 'You have said so already.' : undefined
}

/** `it was approved by operator bo.` */
export const describeEnd = ({ people, status }: DeskTask): string =>
  people?.decided ? `it was ${describeDecided(people.decided)}.` : `it is ${status}.`
