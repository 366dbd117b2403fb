/**
 * Ends a driver: lets effects in flight finish for a while, then drops the rest. Other processes go on with each session as soon as
 * nothing of it is under way here. Source: docs/design/several-processes.md#life-of-a-process
 */
import { fail } from '../../base/failure.ts'
import type { SessionId } from '../../base/ids.ts'
import type { EffectRunner } from './effects-in-flight.ts'
import type { SessionLeases } from './leases.ts'
import { isIdle, type DriverLifecycle, type Mailboxes } from './mailbox.ts'

/** Resolves when nothing runs any more; work that was not stored by then continues at the next start. */
export async function shutDown(
  lifecycle: DriverLifecycle,
  mailboxes: Mailboxes,
  effects: EffectRunner,
  leases: SessionLeases,
  graceMs: number,
): Promise<void> {
  lifecycle.phase = 'closing'
  leases.claimNoMore()
  for (const id of leases.all()) if (isIdle(mailboxes.find(id))) leases.giveBack(id)
  let timeout: NodeJS.Timeout | undefined
  const grace = new Promise<void>((resolve) => (timeout = setTimeout(resolve, graceMs)))
  await Promise.race([finishWork(mailboxes, effects), grace])
  clearTimeout(timeout)
  lifecycle.phase = 'closed'
  // A call that outlives this process keeps its session to the end of the lease: until then it may still arrive.
  const calling = new Set<SessionId>()
  effects.abortAll()
  for (const actor of mailboxes.all()) {
    for (const { isCall } of actor.inFlight.values()) if (isCall) calling.add(actor.id)
    for (const item of actor.inbox.splice(0)) item.reject(fail('shutting_down'))
  }
  await mailboxes.idle()
  await leases.close((id) => calling.has(id))
}

async function finishWork(mailboxes: Mailboxes, effects: EffectRunner): Promise<void> {
  // A session that was adopted a moment ago has not been processed yet.
  for (const actor of mailboxes.all()) if (actor.inbox.length > 0 && !actor.awaitsRetry) mailboxes.process(actor)
  await effects.settled()
  await mailboxes.idle()
}
