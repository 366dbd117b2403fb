import type { Instant } from '../../base/clock.ts'
import type { Outage } from '../../spec/run/outage.ts'
import type { RunHandle, StateAt } from '../transaction/transaction.ts'

/** Lets a completion wait until it is requested again. */
export function backOff(
  run: RunHandle,
  { turn, attempt, lost, room, emptied, note }: StateAt<'thinking'>,
  until: Instant,
  outage?: Outage,
): StateAt<'backing_off'> {
  run.setTimer('retry', '', until)
  return {
    at: 'backing_off',
    turn,
    attempt,
    ...(lost !== undefined && { lost }),
    until,
    ...(room !== undefined && { room }),
    ...(emptied && { emptied }),
    ...(note && { note }),
    ...(outage && { outage }),
  }
}
