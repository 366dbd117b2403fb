/** Which traces are exported. All processes decide alike, since only the trace counts. Source: docs/design/telemetry.md#spans */
import type { SamplerSettings } from './settings.ts'
import type { TracedSpan } from './session-spans.ts'

/** Digits of the trace id that are random in every version of W3C Trace Context: the last 56 bits. */
const RANDOM_DIGITS = 14
const RANGE = 16 ** RANDOM_DIGITS
const SAMPLED = 0x01

/** @param isBegunHere the trace has no caller */
export function isSampled(
  { ratio, isParentBased }: SamplerSettings,
  { traceId, flags }: Pick<TracedSpan, 'traceId' | 'flags'>,
  isBegunHere: boolean,
): boolean {
  if (isParentBased && !isBegunHere) return (flags & SAMPLED) !== 0
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < ratio * RANGE
}
