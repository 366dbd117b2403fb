/** What servers send in a stream in place of the rest of an answer: their error, in the forms in which it was seen. */
import { isJsonObject, parseJsonIfAny, type JsonObject } from '../../base/json/json.ts'
import { messageIn } from './error-body.ts'

/** An error of the server within an answer of status 200, as the SDKs throw it: `error` is the body. */
export class StreamError extends Error {
  override readonly name = 'StreamError'
  readonly error: JsonObject
  constructor(error: JsonObject) {
    super('error in the stream')
    this.error = error
  }
}

/** Members of which an event that belongs to an answer has one, or a type. */
const ANSWER_MEMBERS = [
  'choices',
  'candidates',
  'content',
  'output',
  'usage',
  'usageMetadata',
  'promptFeedback',
] as const

/** Whether an event can belong to an answer of any API. */
export const isOfAnswer = (event: JsonObject): boolean =>
  event['type'] !== undefined || ANSWER_MEMBERS.some((name) => name in event)

/** @throws StreamError where an event is what the server sends in place of an answer */
export function refuseError(event: JsonObject): void {
  const { error, type, message, object } = event
  if (type === 'error') throw new StreamError(event)
  // The error itself, flat as in the body of a refusal.
  if (object === 'error') throw new StreamError({ ...event, ...(isJsonObject(error) && error) })
  const { base_resp: outcome } = event
  if (isJsonObject(outcome) && (outcome['status_code'] ?? 0) !== 0)
    throw new StreamError({ message: outcome['status_msg'] ?? 'error', code: outcome['status_code'] ?? null })
  if (error === undefined || error === null || error === '' || error === false) {
    // A refusal of which nothing is part of an answer.
    if (!isOfAnswer(event) && messageIn(event) !== undefined) throw new StreamError(event)
    return
  }
  // A response of the Responses API has the member as well.
  if (typeof type === 'string' || object === 'response') return
  const code = event['error_type'] ?? event['code']
  throw new StreamError(
    isJsonObject(error)
      ? error
      : {
          message: [error, message].find((each) => typeof each === 'string') ?? 'error',
          ...(code !== undefined && { code }),
        },
  )
}

/** The error of an event, or of a field, that is named `error`: an object in any of the forms, or a text. */
export function namedError(data: string): StreamError {
  const body = parseJsonIfAny(data)
  if (!isJsonObject(body)) return new StreamError({ message: data.trim() })
  return new StreamError(isJsonObject(body['error']) && body['type'] !== 'error' ? body['error'] : body)
}
