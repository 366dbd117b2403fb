/** The limits of an agent. */
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import type { Document } from '../../text/document.ts'

/** `spec.limits` as written, read without computing places; empty where there is none. */
export function limitsOf(agent: Document): JsonObject {
  const { spec } = agent.value
  const limits = isJsonObject(spec) ? spec['limits'] : undefined
  return isJsonObject(limits) ? limits : NONE
}

const NONE: JsonObject = {}
