/** The window in which a rejection gets its comment, and its answer. */
import { cutText } from '../../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { slackText, textIn } from './draw-blocks.ts'

/** Where a click was made, and where its answer goes. */
export interface ClickPlace {
  /** Of the button. */
  readonly value: string
  readonly channel: string
  readonly ts: string
  readonly answerTo: string
}

const CALLBACK = 'svc.reject'
const MOST_OF_COMMENT = 1000

export const drawRejection = (place: ClickPlace): JsonObject => ({
  type: 'modal',
  callback_id: CALLBACK,
  private_metadata: JSON.stringify(place),
  title: slackText('Reject this call?', 24),
  submit: slackText('Reject', 24),
  close: slackText('Go back', 24),
  blocks: [
    {
      type: 'input',
      block_id: 'comment',
      optional: true,
      label: slackText('Why? The agent is told.', 2000),
      element: { type: 'plain_text_input', action_id: 'text', multiline: true, max_length: MOST_OF_COMMENT },
    },
  ],
})

export const drawWords = (words: string): JsonObject => ({
  type: 'modal',
  title: slackText('Nothing was decided', 24),
  close: slackText('Close', 24),
  blocks: [{ type: 'section', text: slackText(words, 3000) }],
})

/** @returns undefined for a window of somebody else */
export function readRejection(
  view: JsonValue | undefined,
): { readonly place: ClickPlace; readonly comment: string | undefined } | undefined {
  if (!isJsonObject(view) || view['callback_id'] !== CALLBACK) return undefined
  const place = readPlace(textIn(view, 'private_metadata') ?? '')
  if (!place) return undefined
  const state = isJsonObject(view['state']) ? view['state']['values'] : undefined
  const input = isJsonObject(state) && isJsonObject(state['comment']) ? state['comment']['text'] : undefined
  const comment = cutText(textIn(input, 'value')?.trim() ?? '', MOST_OF_COMMENT).text
  return { place, comment: comment === '' ? undefined : comment }
}

function readPlace(text: string): ClickPlace | undefined {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isJsonObject(given)) return undefined
  const [value, channel, ts, answerTo] = ['value', 'channel', 'ts', 'answerTo'].map((name) => textIn(given, name))
  return value === undefined || channel === undefined || ts === undefined || answerTo === undefined
    ? undefined
    : { value, channel, ts, answerTo }
}
