/** Waits of calls for events outside svc. Source: docs/design/steering.md#waits-outside */
import type { Instant } from '../../base/clock.ts'
import type { JsonObject } from '../../base/json/json.ts'

export type CallWait =
  /** `svc.wait_until` */
  | { readonly kind: 'timer'; readonly until: Instant }
  /** `svc.wait_event` */
  | { readonly kind: 'signal'; readonly name: string; readonly schema?: boolean | JsonObject; readonly until?: Instant }
  /** The tool has accepted the call, and whoever has its token reports the end. */
  | { readonly kind: 'external'; readonly until: Instant }

/** Label of a Tool document; with the value `external`, a call ends with a report that has the call's token. */
export const COMPLETION = 'svc/completion'
/** Label of such a tool: how long its calls wait at most, a duration. */
export const COMPLETION_TIMEOUT = 'svc/completion-timeout'

/** A message to a working run. */
export interface SteeringMessage {
  readonly text: string
  readonly files: readonly { readonly filename: string; readonly mediaType: string; readonly objectKey: string }[]
}
