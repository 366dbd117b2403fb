/** What a policy decides. */
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { mappingIn, type Document } from '../../text/document.ts'

/** `spec.decision` as written; empty where there is none. */
export const decisionOf = (policy: Document): JsonObject => mappingIn(policy, 'spec', 'decision')

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
