/** What an agent is limited to. */
import { isJsonObject, type JsonObject } from '../../base/json.ts'
import type { Document } from '../text/document.ts'

/** `spec.limits` as it is written, to be read before any place in it is asked for; empty where there is none. */
export function limitsOf(agent: Document): JsonObject {
  const { spec } = agent.value
  const limits = isJsonObject(spec) ? spec['limits'] : undefined
  return isJsonObject(limits) ? limits : NONE
}

const NONE: JsonObject = {}
