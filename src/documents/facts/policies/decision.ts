/** What a policy decides. */
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { Document } from '../../text/document.ts'

/** `spec.decision` as written, read without computing places; empty where there is none. */
export function decisionOf(policy: Document): JsonObject {
  const { spec } = policy.value
  const decision = isJsonObject(spec) ? spec['decision'] : undefined
  return isJsonObject(decision) ? decision : NONE
}

/** The boundary to which a policy is linked. */
export function linkOf(policy: Document): string | undefined {
  const { authority_ref: link } = decisionOf(policy)
  return typeof link === 'string' && link !== '' ? link : undefined
}

/** True where an approval is granted if nobody answers in time. */
export function isAllowedOnTimeout(policy: Document): boolean {
  const { timeout } = decisionOf(policy)
  return isJsonObject(timeout) && timeout['default'] === 'allow'
}

const NONE: JsonObject = {}
