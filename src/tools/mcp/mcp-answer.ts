/** Reads what an MCP server answers to a request, in whatever form it does: an answer that arrived is an answer. */
import { completeJson } from '../../base/json/json-beginning.ts'
import { isJsonObject, JsonBoundError, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { parseKeepingDigits } from '../../base/json/keep-digits.ts'

export type McpAnswer =
  | {
      readonly at: 'result'
      readonly result: JsonValue
      /** The answer was longer than this, in bytes, and is cut. */
      readonly cutAt?: number
    }
  /** An error of the server's MCP layer. */
  | { readonly at: 'error'; readonly code: number; readonly message: string; readonly data?: JsonValue }
  | {
      readonly at: 'unreadable'
      readonly text: string
      /** Continues a sentence about the answer: "is not JSON". */
      readonly why: string
      readonly cutAt?: number
    }

/** What a server sends: an answer, or a request or notification of its own. */
export type McpMessage = McpAnswer | { readonly at: 'other'; readonly message?: JsonObject }

/** JSON-RPC's code for an error whose code is none. */
const INTERNAL_ERROR = -32603

/**
 * Reads the text of a message.
 * @param cutAt the bound in bytes at which the text was cut; undefined for a whole text
 */
export function readMcpMessage(text: string, cutAt?: number): McpMessage {
  const cut = cutAt !== undefined && { cutAt }
  const json = cutAt === undefined ? text.replace(/^\uFEFF/, '') : completeJson(text)
  if (json === undefined || json.trim() === '')
    return { at: 'unreadable', text, why: text.trim() === '' ? 'is empty' : 'is not JSON', ...cut }
  try {
    return toMessage(parseKeepingDigits(json), cut)
  } catch (error) {
    return {
      at: 'unreadable',
      text,
      why: error instanceof JsonBoundError ? `is ${error.message}` : 'is not JSON',
      ...cut,
    }
  }
}

function toMessage(value: JsonValue, cut: { readonly cutAt: number } | false): McpMessage {
  // Older revisions let a server answer with a batch.
  const batch = Array.isArray(value) ? value.filter(isJsonObject).filter((each) => !('method' in each)) : []
  const message = batch.find((each) => 'result' in each || 'error' in each) ?? value
  if (!isJsonObject(message)) return { at: 'result', result: message, ...cut }
  if ('method' in message && !('result' in message)) return { at: 'other', message }
  // What was cut off may have been the method.
  if (cut && 'jsonrpc' in message && !('result' in message) && !('error' in message)) return { at: 'other' }
  const { error, result } = message
  if (error !== undefined && error !== null && (result === undefined || result === null)) return toError(error)
  // Some servers answer with the result alone.
  return { at: 'result', result: 'result' in message ? result! : message, ...cut }
}

function toError(error: JsonValue): McpAnswer {
  if (!isJsonObject(error))
    return { at: 'error', code: INTERNAL_ERROR, message: typeof error === 'string' ? error : JSON.stringify(error) }
  const { code, message, data } = error
  return {
    at: 'error',
    code: typeof code === 'number' && Number.isInteger(code) ? code : INTERNAL_ERROR,
    message: typeof message === 'string' && message !== '' ? message : JSON.stringify(error),
    ...(data !== undefined && { data }),
  }
}
