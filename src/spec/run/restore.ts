/** The restore of a backup, as the store that it made remembers it. Source: docs/design/runs-and-recovery.md#restoring */
import type { Instant } from '../../base/clock.ts'

/** The store knows nothing of what happened between `backedUpAt` and `at`: calls, effect keys, undos. */
export interface StoreRestore {
  readonly at: Instant
  readonly backedUpAt: Instant
  /** When an operator released the whole store; null while no run of it sends anything unless it was released by name. */
  readonly releasedAt: Instant | null
  /** Until when calls that may have been made meanwhile ask a person; null until the whole store is released. */
  readonly asksUntil: Instant | null
}

/** How long calls ask a person after a release, where the operator says nothing else. */
export const ASKS_AFTER_RELEASE_MS = 7 * 24 * 3600_000

/** The restore because of which a call of this moment may have been made before; undefined if there is none. */
export const restoreInQuestion = (restore: StoreRestore | undefined, now: Instant): StoreRestore | undefined =>
  restore && (restore.asksUntil === null || now < restore.asksUntil) ? restore : undefined
