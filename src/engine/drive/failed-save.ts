/** Handles mailbox items whose save failed: the store refused their content, or could not be written to at all. */
import { isFailure, type Failure } from '../../base/failure.ts'
import type { Log } from '../../base/log.ts'
import { toRunFailure, type MailboxItem, type SessionActor } from './mailbox.ts'

/**
 * The store refused the content: nothing was stored and memory is right, but saving the same again would block the session for
 * ever. Finds the item by applying one at a time, and fails its run instead.
 * @returns true when the run was blocked because its failure cannot be stored either
 */
export function isolateUnsavable(
  log: Log,
  actor: SessionActor,
  batch: readonly MailboxItem[],
  error: Failure,
): boolean {
  const [item] = batch
  if (item === undefined || batch.length > 1) {
    actor.oneByOne = true
    actor.inbox.unshift(...batch)
    return false
  }
  log.write('error', 'A change to a session cannot be stored.', {
    sessionId: actor.id,
    ...(item.runId !== undefined && { runId: item.runId }),
    error: error.message,
  })
  item.reject(error)
  const failure = toRunFailure(item, 'state_not_saved')
  actor.inbox.unshift(...failure)
  if (failure.length > 0 || item.runId === undefined) return false
  actor.blockedRuns.add(item.runId)
  return true
}

/**
 * The session could not be loaded or saved. Outcomes go back into the inbox, callers get the error.
 * @param isClosed true if the driver is closed and keeps nothing for another attempt
 * @returns true when items wait for another attempt
 */
export function keepForRetry(
  log: Log,
  actor: SessionActor,
  batch: readonly MailboxItem[],
  error: unknown,
  isClosed: boolean,
): boolean {
  if (!isFailure(error))
    log.write('error', 'A session could not be saved.', { sessionId: actor.id, error: String(error) })
  // The save may have reached the store or not, so memory can be wrong either way.
  actor.live = undefined
  const retried = batch.filter((item) => item.retrySave && !isClosed)
  for (const item of batch) if (!retried.includes(item)) item.reject(error)
  actor.inbox.unshift(...retried)
  if (retried.length === 0) return false
  // New requests are tried at once; only stored outcomes wait for the next attempt.
  actor.awaitsRetry = actor.inbox.every((item) => item.retrySave)
  return true
}
