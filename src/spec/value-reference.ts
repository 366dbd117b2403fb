/** References to large values. Source: docs/design/http.md#bounded-answers */
import type { Digest } from '../base/digest.ts'
import type { RunId } from '../base/ids.ts'
import type { ValueReference } from './api.ts'

/** In small answers, a larger value is replaced by a reference. */
export const REFERENCE_BYTES = 4096

/** @param ordinal of the step whose content has the value; absent for values of the session, its runs and its tasks */
export const toReference = (runId: RunId, digest: Digest, bytes: number, ordinal?: number): ValueReference => ({
  svcValue: digest,
  bytes,
  url: `/v1/runs/${runId}/values/${digest}${ordinal === undefined ? '' : `?ordinal=${ordinal}`}`,
})
