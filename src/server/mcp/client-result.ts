/** What became of a client's call, as an MCP tool result. Source: docs/design/gate.md#the-mcp-endpoint */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { toIsoText } from '../../base/clock.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { ClientCallAnswer } from '../../engine/interface/client-call.ts'
import { describeHold } from '../../spec/run/hold.ts'
import type { ToolMedia } from '../../spec/tool-media.ts'
import { textResult } from './mcp-tools.ts'

/** The tool by which a client asks again for a call that it was told to wait for. */
export const CALL_RESULT_TOOL = 'svc_call_result'

type TaskPlace = (taskId: string) => string | undefined

/**
 * @param placeOf address at which a person decides a task; undefined where there is none
 * @param isAgain the client made a call again that had no outcome yet, and may have meant another one
 */
export function toClientResult(answer: ClientCallAnswer, placeOf: TaskPlace, isAgain: boolean): CallToolResult {
  switch (answer.at) {
    case 'settled':
      return settledResult(answer, isAgain)
    case 'asking': {
      const until = answer.until === undefined ? '' : ` Until ${toIsoText(answer.until)}; then its time-out decides.`
      const who = answer.answersServer ? 'a person answers' : 'a person decides'
      return openResult(answer, `${who}: ${answer.title}. ${describePlace(answer.taskId, placeOf)}${until}`)
    }
    case 'unknown': {
      const found = 'it was sent, and it is not known whether it happened. A person finds out; do not make another one.'
      return openResult(answer, `${found} ${describePlace(answer.taskId, placeOf)}`)
    }
    case 'held':
      return openResult(answer, `it is held ${describeHold(answer.hold)}.`)
    case 'working':
      return openResult(answer, 'it is under way.')
    case 'stopped':
      return textResult(`The call was not made: ${answer.message}`, true)
  }
}

function describePlace(taskId: string | undefined, placeOf: TaskPlace): string {
  const place = taskId === undefined ? undefined : placeOf(taskId)
  return place === undefined ? 'It is in svc inbox.' : `It is at ${place} and in svc inbox.`
}

/** An error, so that no program takes it for the result. */
function openResult({ callId, at }: ClientCallAnswer, why: string): CallToolResult {
  const next = `Ask for the outcome with ${CALL_RESULT_TOOL} {"handle": ${JSON.stringify(callId)}}, or make the same call again.`
  return {
    ...textResult(`The call has no outcome yet: ${why} ${next}`, true),
    structuredContent: { status: at, handle: callId },
  }
}

function settledResult(answer: Extract<ClientCallAnswer, { at: 'settled' }>, isAgain: boolean): CallToolResult {
  const { result, isError, media, editedArguments, repeated } = answer
  const texts = [
    ...(isAgain ? [SAME_CALL] : []),
    ...(repeated ? ['This was done before and is not done again. The earlier result follows.'] : []),
    ...(editedArguments === undefined
      ? []
      : [`Executed with arguments that a person edited: ${JSON.stringify(editedArguments)}`]),
    shownText(result, isError),
  ]
  return {
    content: [...texts.map((text) => ({ type: 'text' as const, text })), ...media.map(toContent)],
    ...(isJsonObject(result) && { structuredContent: result }),
    ...(isError && { isError }),
  }
}

const SAME_CALL =
  'This is the outcome of the same call, which you made before and which had none then. No other call was made: make it once more for another.'

/** An error of ours leads with its sentence and the places at fault; its JSON is the structured content. */
function shownText(result: JsonValue, isError: boolean): string {
  if (typeof result === 'string') return result
  if (!isError || !isJsonObject(result) || typeof result['message'] !== 'string') return JSON.stringify(result)
  const details = Array.isArray(result['details']) ? result['details'] : []
  const places = details.flatMap((each) => {
    const { path, message } = isJsonObject(each) ? each : {}
    return typeof path === 'string' && typeof message === 'string' ? [`${path || '/'} ${message}`] : []
  })
  return [result['message'], ...places].join('\n')
}

const toContent = ({ kind, mediaType, data }: ToolMedia, at: number): CallToolResult['content'][number] =>
  kind === 'pdf'
    ? { type: 'resource', resource: { uri: `svc://media/${at}`, mimeType: mediaType, blob: data } }
    : { type: kind, mimeType: mediaType, data }
