/** Requests that Slack makes when somebody clicks, signed as Slack signs them. */
import { createHmac } from 'node:crypto'
import type { FakeSlack, Json, SlackMessage } from './slack.ts'

export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5'

export interface SlackRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** @param at seconds since 1970 */
export function signedBySlack(
  payload: unknown,
  at = Math.floor(Date.now() / 1000),
  secret = SIGNING_SECRET,
): SlackRequest {
  const body = new URLSearchParams({
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  }).toString()
  return {
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')}`,
    },
    body,
  }
}

/** The button of a message; undefined where it has none. */
export const buttonOf = ({ blocks }: Pick<SlackMessage, 'blocks'>, action: string): Json | undefined =>
  blocks
    .flatMap((block) => (block['type'] === 'actions' ? (block['elements'] as Json[]) : []))
    .find((each) => each['action_id'] === action)

export interface Click {
  readonly message: SlackMessage
  readonly action: string
  readonly user: string
}

/** What Slack sends for a click: `block_actions`. */
export const clickPayload = (slack: FakeSlack, { message, action, user }: Click, more: object = {}): Json => ({
  type: 'block_actions',
  user: { id: user, username: 'somebody', team_id: 'T0ACME' },
  api_app_id: 'A0SVC',
  container: { type: 'message', message_ts: message.ts, channel_id: message.channel, is_ephemeral: false },
  trigger_id: '13345224609.738474920.8088930838d88f008e0',
  team: { id: 'T0ACME', domain: 'acme' },
  channel: { id: message.channel, name: 'finance' },
  message: { type: 'message', ts: message.ts, text: message.text, blocks: message.blocks },
  response_url: `${new URL(slack.api).origin}/answers/1`,
  actions: [{ ...buttonOf(message, action), type: 'button', block_id: 'x', action_ts: '1548426417.840180' }],
  ...more,
})

/** What Slack sends when the window is sent that `views.open` asked for. */
export const submissionPayload = (view: Json, user: string, comment: string | null): Json => ({
  type: 'view_submission',
  team: { id: 'T0ACME', domain: 'acme' },
  user: { id: user, username: 'somebody', team_id: 'T0ACME' },
  api_app_id: 'A0SVC',
  view: {
    ...view,
    id: 'V0VIEW',
    state: { values: { comment: { text: { type: 'plain_text_input', value: comment } } } },
  },
  response_urls: [],
})
