/** Calls of Slack's Web API, and what its errors mean for a notice. Source: docs/design/notifications.md#slack */
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { retryAfterMs } from '../../../base/retry.ts'
import { failedTry, refusedTry, type ChannelParts, type TryOutcome } from '../channel.ts'
import type { SlackConfig } from '../../../spec/project/config.ts'
import { readAnswerText } from '../chat/read-answer.ts'

export const DEFAULT_API = 'https://slack.com/api'
/** Where Slack asks for patience and does not say how much. */
const DEFAULT_PATIENCE_MS = 30_000

type SlackMethod =
  | 'auth.test'
  | 'chat.postMessage'
  | 'chat.update'
  | 'users.info'
  | 'users.lookupByEmail'
  | 'views.open'

export interface SlackApi {
  /** @throws SlackFault, or the error of a request that got no answer */
  call(method: SlackMethod, fields: Readonly<Record<string, JsonValue>>, signal: AbortSignal): Promise<SlackAnswer>
}

export interface SlackAnswer {
  readonly body: JsonObject
  /** Of the token. */
  readonly scopes: readonly string[]
}

/** Slack did not do what was asked. */
export class SlackFault extends Error {
  override readonly name = 'SlackFault'
  readonly outcome: Extract<TryOutcome, { at: 'failed' | 'refused' }>
  /** Slack's own word. */
  readonly code: string
  /** What it concerns: the message alone, or those who were to get it; else whatever is sent next. */
  readonly of: 'message' | 'target' | 'all'
  constructor(code: string, outcome: SlackFault['outcome'], of: SlackFault['of'] = 'all') {
    super(outcome.why)
    this.code = code
    this.outcome = outcome
    this.of = of
  }
}

export function createSlackApi(
  { token, api = DEFAULT_API }: Pick<SlackConfig, 'token' | 'api'>,
  { env, fetch, clock }: Pick<ChannelParts, 'env' | 'fetch' | 'clock'>,
): SlackApi {
  return {
    async call(method, fields, signal) {
      const secret = env[token.fromEnv]?.trim() ?? ''
      if (!/^xox[a-z]-[\w-]+$/.test(secret))
        throw new SlackFault(
          'no_token',
          refusedTry(`the environment variable ${token.fromEnv} of the server has no bot token of the form xoxb-…`),
        )
      // Every method takes a form; only some take JSON.
      const form = new URLSearchParams(
        Object.entries(fields).map(([name, value]) => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      )
      const response = await fetch(`${api}/${method}`, {
        method: 'POST',
        redirect: 'manual',
        signal,
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
          'user-agent': 'svc',
        },
        body: form.toString(),
      })
      const { status, headers } = response
      const body = parseAnswer(await readAnswerText(response))
      const waitMs = retryAfterMs(headers.get('retry-after'), clock.now())
      if (status === 429 || body?.['error'] === 'ratelimited')
        throw new SlackFault(
          'ratelimited',
          failedTry(`Slack asks for patience (${method})`, waitMs ?? DEFAULT_PATIENCE_MS),
        )
      if (status !== 200 || !body)
        throw new SlackFault(
          'no_answer',
          failedTry(`Slack answered ${method} with ${status} and no JSON of its API`, waitMs),
        )
      if (body['ok'] !== true) throw toFault(method, body, token.fromEnv)
      const scopes = (headers.get('x-oauth-scopes') ?? '').split(',').map((each) => each.trim())
      return { body, scopes: scopes.filter((each) => each !== '') }
    },
  }
}

function parseAnswer(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && typeof value['ok'] === 'boolean' ? value : undefined
  } catch {
    return undefined
  }
}

function toFault(method: SlackMethod, body: JsonObject, variable: string): SlackFault {
  const code = typeof body['error'] === 'string' ? body['error'] : 'an error without a name'
  const refuse = (what: string, of: SlackFault['of'] = 'all'): SlackFault =>
    new SlackFault(code, { at: 'refused', why: `${what} (${method}: ${code})` }, of)
  if (code === 'missing_scope') {
    const needed = typeof body['needed'] === 'string' ? body['needed'] : 'that the call needs'
    return refuse(describeMissingScopes(needed, variable))
  }
  if (TOKEN_ERRORS.has(code))
    return refuse(
      `Slack takes the token in ${variable} no more: install the app again, set its new bot token, and start the server again`,
    )
  const remedy = CHANNEL_ERRORS[code]
  if (remedy !== undefined) return refuse(remedy, 'target')
  if (MESSAGE_ERRORS.has(code)) return refuse(`Slack does not take this message${detailsOf(body)}`, 'message')
  return new SlackFault(code, failedTry(`Slack answered ${method} with ${code}`), 'target')
}

export const describeMissingScopes = (needed: string, variable: string): string =>
  `the token in ${variable} lacks the scope ${needed}: add it to the app under OAuth & Permissions, and install the app again`

/** What Slack says of a message that it refuses. */
function detailsOf({ response_metadata: about }: JsonObject): string {
  const said = isJsonObject(about) && Array.isArray(about['messages']) ? about['messages'][0] : undefined
  return typeof said === 'string' ? `: ${said}` : ''
}

const TOKEN_ERRORS: ReadonlySet<string> = new Set([
  'invalid_auth',
  'not_authed',
  'account_inactive',
  'token_revoked',
  'token_expired',
  'no_permission',
  'org_login_required',
])

const CHANNEL_ERRORS: Readonly<Record<string, string>> = {
  channel_not_found: 'Slack knows no such channel, or the app is not in it: invite the app, or correct the channel',
  not_in_channel: 'the app is not in the channel: invite it there',
  is_archived: 'the channel is archived: name another one, or bring it back',
  restricted_action: 'the workspace lets the app not post there: ask its administrators',
  ekm_access_denied: 'the workspace lets nobody post at present: ask its administrators',
}

/** Of one message: the next one may be taken. */
const MESSAGE_ERRORS: ReadonlySet<string> = new Set([
  'invalid_blocks',
  'invalid_blocks_format',
  'invalid_arguments',
  'msg_too_long',
  'msg_blocks_too_long',
  'no_text',
  'cant_update_message',
  'edit_window_closed',
  'message_not_found',
])

/** The message cannot be changed any more: somebody deleted it, or it is too old. */
export const isGone = ({ code }: SlackFault): boolean =>
  code === 'message_not_found' || code === 'cant_update_message' || code === 'edit_window_closed'
