/** Why a run that works does nothing. Source: decisions, section 18. */
import { toIsoText, type Instant } from '../base/clock.ts'

/** The member `hold` of a run that came from a backup, in its status and in `engine.run.paused`. */
export const restoredHold = (since: Instant): { hold: { reason: 'restored'; since: string } } => ({
  hold: { reason: 'restored', since: toIsoText(since) },
})
