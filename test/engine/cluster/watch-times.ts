/** Notes what processes save before its time has come by the clock of the store. */
import type { SessionUpdate } from '../../../src/store/session-update.ts'
import type { Store } from '../../../src/store/store.ts'

export function watchTimes(store: Store, now: () => number, untimely: string[]): Store {
  const look = ({ session, events, tasks, effects = [] }: SessionUpdate): void => {
    const early = (what: string, at: number): void => {
      if (at > now()) untimely.push(`too early: ${what} of ${session.id}, by ${at - now()} ms`)
    }
    for (const { subject, ts } of events) early(subject, ts)
    for (const { status, expiresAt = 0 } of tasks) if (status === 'expired') early('a time-out', expiresAt)
    for (const change of effects) if ('take' in change) early('the window of an effect', change.take.at)
  }
  return {
    ...store,
    start(update, ...more) {
      look(update)
      return store.start(update, ...more)
    },
    save(update, ...more) {
      look(update)
      return store.save(update, ...more)
    },
  }
}
