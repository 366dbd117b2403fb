/** Effect keys: names of real-world effects. At most one call of a workspace holds a key. Source: docs/design/policies.md#effect-keys */
import type { Digest } from '../base/digest.ts'
import type { Instant } from '../base/clock.ts'
import type { RunId, SessionId, WorkspaceId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'

/** What happens to a second call with a key. */
export const EFFECT_REPEATS = ['ask', 'refuse', 'return'] as const
export type EffectRepeat = (typeof EFFECT_REPEATS)[number]

/** `not_made`: the call certainly did not happen, and gave its key back. */
export type EffectState = 'in_flight' | 'unknown' | 'done' | 'not_made'

/** A call that took an effect key, and what became of it. */
export interface EffectRecord {
  readonly id: string
  readonly workspaceId: WorkspaceId
  /** The key, or its digest where the text is longer than a key may be. */
  readonly key: string
  /** The text of the key, shortened for people. */
  readonly shown: string
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly callId: string
  /** Logical ids with versions: `acme.refunds`, `1.0.0`. */
  readonly tool: string
  readonly toolVersion: string
  readonly agent: string
  readonly agentVersion: string
  readonly argumentsDigest: Digest
  /** When the call was recorded as sent. */
  readonly at: Instant
  /** When its last attempt is over at the latest. */
  readonly notAfter: Instant
  /** When a call that was made stops holding the key; null = never. */
  readonly expiresAt: Instant | null
  readonly state: EffectState
  /** True for the call that holds the key now. */
  readonly holds: boolean
  /** Set where a repetition may be given the result. */
  readonly result?: JsonValue
  /** People and keys that approved the call, as `approverOf` names them. */
  readonly approvedBy: readonly string[]
  /** The call that this one repeats, by its id, with the approval of a person. */
  readonly replaces: string | null
  /** Who released the key, and why. */
  readonly released?: { readonly at: Instant; readonly by: string; readonly reason: string }
}

/**
 * How long after its deadline a call may still arrive: bytes in a kernel's buffer outlive their sender.
 * Source: docs/design/runs-and-recovery.md#dispatch-and-recovery
 */
export const QUARANTINE_MARGIN_MS = 3000

/** True while a call may still be on its way to its tool. One whose run was cancelled goes on, with an unknown outcome. */
export const mayStillArrive = ({ state, notAfter }: EffectRecord, now: Instant): boolean =>
  (state === 'in_flight' || state === 'unknown') && now < notAfter + QUARANTINE_MARGIN_MS

/** The view of an earlier call with a key for policies and people (`effect.previous`). */
export interface PreviousEffect {
  readonly tool: string
  readonly run_id: string
  readonly agent: string
  readonly version: string
  /** RFC 3339. */
  readonly at: string
  readonly age_seconds: number
  readonly outcome: 'done' | 'in_flight' | 'unknown'
  readonly same_args: boolean
  readonly approved_by: readonly string[]
}

/** An earlier call as JSON: of a task, a step or a fact. */
export const previousAsJson = (previous: PreviousEffect): JsonObject => ({
  ...previous,
  approved_by: [...previous.approved_by],
})
