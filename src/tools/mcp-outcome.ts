/** Outcomes of calls to MCP servers: what the answer, an error or a time-out says about the call. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import { innermostMessage } from '../base/innermost-cause.ts'
import { InexactNumberError, unsafeNumberIn } from '../base/json/exact-number.ts'
import { findExceededBound, parseJson, type JsonValue } from '../base/json/json.ts'
import { unsentCode } from '../base/net/transport.ts'
import { OversizedAnswer } from './mcp-connection.ts'
import {
  exceededOutcome,
  failedOutcome,
  inexactNumberOutcome,
  returnedOutcome,
  saysNotExecuted,
  truncatedOutcome,
} from './outcome.ts'
import { MAX_OUTPUT_BYTES, type ToolOutcome } from './tool.ts'

/** The HTTP status of an answer that did not come from the tool, or `protocol` for an error of the server's MCP layer. */
export function answerCodeOf(error: unknown): number | 'protocol' | undefined {
  const { code, status } = Object(error) as { code?: unknown; status?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' ? 'protocol' : undefined
}

export function toFailedCallOutcome(
  server: string,
  error: unknown,
  status: number | 'protocol' | undefined,
  dispatched: boolean,
  waitMs?: number,
): ToolOutcome {
  const later = waitMs !== undefined && { retryAfterMs: waitMs }
  const why = innermostMessage(error).slice(0, 500)
  if (typeof status === 'number' && status < 500) {
    const error = `MCP server "${server}" answered ${status}: ${why}`
    return status === 429
      ? { at: 'not_sent', code: 'unreachable', error, ...later }
      : { at: 'not_sent', code: 'refused', error }
  }
  if (!dispatched && error instanceof OversizedAnswer)
    return { at: 'not_sent', code: 'refused', error: `MCP server "${server}" cannot be used: ${why}` }
  if (!dispatched)
    return { at: 'not_sent', code: unsentCode(error), error: `MCP server "${server}" cannot be reached: ${why}` }
  return {
    at: 'unknown',
    code: 'broken',
    error: `The connection to MCP server "${server}" broke during the call: ${why}`,
    ...later,
  }
}

export function toAbortedCallOutcome(
  server: string,
  dispatched: boolean,
  timedOut: boolean,
  timeoutMs: number,
): ToolOutcome {
  const late = `MCP server "${server}" did not answer within ${timeoutMs} ms.`
  if (dispatched)
    return timedOut
      ? { at: 'unknown', code: 'timeout', error: late }
      : { at: 'unknown', code: 'broken', error: 'The run was cancelled during the call.' }
  return timedOut
    ? { at: 'not_sent', code: 'unreachable', error: late }
    : { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
}

/** The structured content; else the text, parsed if it is a JSON object or list; else the content parts. */
export function toCallOutcome(result: CallToolResult, durationMs: number): ToolOutcome {
  const content = result.content ?? []
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  const isText = texts.length === content.length
  const isError = result.isError === true
  const value = (
    result.structuredContent !== undefined && !isError
      ? result.structuredContent
      : isText
        ? isError
          ? texts.join('\n')
          : parseText(texts.join('\n'))
        : content
  ) as JsonValue | InexactNumberError
  if (value instanceof InexactNumberError) return inexactNumberOutcome(value, texts.join('\n'), durationMs)
  const exceeded = findExceededBound(value)
  if (exceeded !== undefined) return exceededOutcome(exceeded, durationMs)
  // The SDK parsed the structured content and may have changed a number.
  const unsafe = unsafeNumberIn(value)
  if (unsafe)
    return inexactNumberOutcome(
      new InexactNumberError(unsafe.pointer, String(unsafe.value)),
      texts.join('\n'),
      durationMs,
    )
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return bytes.byteLength > MAX_OUTPUT_BYTES
    ? truncatedOutcome(bytes, durationMs)
    : isError
      ? failedOutcome(value, durationMs, saysNotExecuted(result.structuredContent) || saysNotExecuted(value))
      : returnedOutcome(value, false, durationMs)
}

function parseText(text: string): JsonValue | InexactNumberError {
  if (/^\s*[[{]/.test(text)) {
    try {
      return parseJson(text)
    } catch (error) {
      if (error instanceof InexactNumberError) return error
      // Text that only begins like JSON is text.
    }
  }
  return text
}
