/**
 * Bodies of refusals in the one form that all SDKs read, `{"error": …}`: OpenAI's shows nothing of another one. A server that does not
 * end such a body holds nobody up.
 */
import { isJsonObject, parseJsonIfAny } from '../../base/json/json.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import { within } from '../../base/signal-within.ts'
import { NO_REASON } from './error-body.ts'

/** What is read of a refusal. */
const MOST_BYTES = 256 * 1024
/** How long it may take to arrive after its status. */
const LONGEST_BODY_MS = 5000

/** A `fetch` whose refusals have such a body; other answers are as they came. */
export const withErrorText =
  (fetch: FetchFunction): FetchFunction =>
  async (input, init) => {
    const response = await fetch(input, init)
    const { status, statusText, headers } = response
    if (status < 400) return response
    const text = await readStart(response)
    const said = JSON.stringify(toErrorBody(text.trim() === '' ? NO_REASON : text))
    const read = { text: () => Promise.resolve(said), json: () => Promise.resolve(JSON.parse(said) as unknown) }
    return { status, statusText, headers, ok: false, url: '', body: null, ...read } as unknown as Response
  }

function toErrorBody(text: string): object {
  const body = parseJsonIfAny(text) ?? text
  return isJsonObject(body) && isJsonObject(body['error'])
    ? body
    : { error: isJsonObject(body) ? body : { message: body } }
}

/** The start of a body: what has come when it ends, is cut off, or takes too long. */
async function readStart({ body }: Response): Promise<string> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  const iterator = (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  const read = async (): Promise<void> => {
    for (let bytes = 0; bytes < MOST_BYTES;) {
      const { value, done } = await iterator.next()
      if (done === true) return
      chunks.push(value)
      bytes += value.length
    }
  }
  await within(LONGEST_BODY_MS, read())
  await iterator.return?.()
  return Buffer.concat(chunks).toString()
}
