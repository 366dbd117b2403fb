/** Ends a driver: lets effects in flight finish for a while, then drops the rest. */
import { fail } from '../../base/failure.ts'
import type { EffectRunner } from './effects-in-flight.ts'
import type { DriverLifecycle, Mailboxes } from './mailbox.ts'

/** Resolves when nothing runs any more; what was not stored by then continues at the next start. */
export async function shutDown(
  lifecycle: DriverLifecycle,
  mailboxes: Mailboxes,
  effects: EffectRunner,
  graceMs: number,
): Promise<void> {
  lifecycle.phase = 'closing'
  let timeout: NodeJS.Timeout | undefined
  const grace = new Promise<void>((resolve) => (timeout = setTimeout(resolve, graceMs)))
  await Promise.race([finishWork(mailboxes, effects), grace])
  clearTimeout(timeout)
  lifecycle.phase = 'closed'
  for (const actor of mailboxes.all()) {
    for (const { controller } of actor.inFlight.values()) controller.abort()
    for (const item of actor.inbox.splice(0)) item.reject(fail('shutting_down'))
  }
  await mailboxes.idle()
}

async function finishWork(mailboxes: Mailboxes, effects: EffectRunner): Promise<void> {
  // A session that was adopted a moment ago has not been processed yet.
  for (const actor of mailboxes.all()) if (actor.inbox.length > 0 && !actor.awaitsRetry) mailboxes.process(actor)
  await effects.settled()
  await mailboxes.idle()
}
