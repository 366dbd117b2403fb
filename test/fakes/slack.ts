/**
 * Slack's Web API as far as a channel needs it: it keeps messages, and refuses what Slack's reference says that it refuses (lengths and
 * counts of blocks, tokens, scopes, channels). test/server/notify/chat-tools.test.ts checks it with Slack's own client.
 */
import { createServer, type ServerResponse } from 'node:http'
import { listen, stop } from './model-server.ts'
import { findBlockFault } from './slack-blocks.ts'

export interface SlackMessage {
  readonly channel: string
  readonly ts: string
  readonly thread: string | undefined
  text: string
  blocks: readonly Json[]
  /** How often it was changed. */
  edits: number
}

export type Json = { readonly [name: string]: unknown }

export interface SlackCall {
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
}

/** What a test answers in place of the fake; `undefined`: as usual. */
export type AnswerCall = (
  call: SlackCall,
  response: ServerResponse,
) => { readonly [name: string]: unknown } | 'answered' | undefined | Promise<undefined>

export interface FakeSlack {
  readonly api: string
  readonly calls: SlackCall[]
  readonly messages: SlackMessage[]
  /** What was posted to the address of an answer (`response_url`). */
  readonly answers: Json[]
  /** By e-mail address. */
  readonly users: Map<string, Json>
  readonly channels: Set<string>
  readonly archived: Set<string>
  token: string
  scopes: string
  answer: AnswerCall
  /** Called after each answer. */
  onCall: () => void
  /** Resolves once this holds. */
  until(holds: () => boolean): Promise<void>
  close(): Promise<void>
}

const TEAM = 'T0ACME'
export const ALL_SCOPES = 'chat:write,im:write,users:read,users:read.email'

/** A member as `users.info` shows one. */
export const aMember = (id: string, email: string, about: object = {}): Json => ({
  id,
  team_id: TEAM,
  deleted: false,
  is_bot: false,
  is_email_confirmed: true,
  profile: { email, real_name: email },
  ...about,
})

export async function startFakeSlack(): Promise<FakeSlack> {
  let count = 0
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      if (request.url?.startsWith('/answers/')) {
        fake.answers.push(JSON.parse(body) as Json)
        response.end('ok')
        for (const look of waiting) look()
        return
      }
      const call = {
        method: (request.url ?? '').replace(/^\/api\//, ''),
        fields: Object.fromEntries(new URLSearchParams(body)),
      }
      void handle(call, request.headers.authorization, response).then(() => {
        fake.onCall()
        for (const look of waiting) look()
      })
    })
  })

  async function handle(call: SlackCall, authorization: string | undefined, response: ServerResponse): Promise<void> {
    fake.calls.push(call)
    const special = await fake.answer(call, response)
    if (special === 'answered') return
    const answer = special ?? reply(call, authorization)
    response
      .writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'x-oauth-scopes': fake.scopes })
      .end(JSON.stringify(answer))
  }

  function reply({ method, fields }: SlackCall, authorization: string | undefined): Json {
    if (authorization === undefined && fields['token'] === undefined) return no('not_authed')
    if (authorization !== `Bearer ${fake.token}` && fields['token'] !== fake.token) return no('invalid_auth')
    const needed = NEEDED[method] ?? []
    const missing = needed.find((scope) => !fake.scopes.split(',').includes(scope))
    if (missing !== undefined) return { ...no('missing_scope'), needed: missing, provided: fake.scopes }
    if (method === 'auth.test') return { ok: true, team_id: TEAM, team: 'acme', user_id: 'U0BOT', bot_id: 'B0BOT' }
    if (method === 'users.lookupByEmail') {
      const user = fake.users.get(fields['email'] ?? '')
      return user ? { ok: true, user } : no('users_not_found')
    }
    if (method === 'users.info') {
      const user = [...fake.users.values()].find(({ id }) => id === fields['user'])
      return user ? { ok: true, user } : no('user_not_found')
    }
    if (method === 'views.open') return { ok: true, view: { id: 'V0VIEW' } }
    if (method === 'chat.postMessage') return post(fields)
    return method === 'chat.update' ? update(fields) : no('unknown_method')
  }

  function post(fields: SlackCall['fields']): Json {
    const to = fields['channel'] ?? ''
    const user = [...fake.users.values()].find(({ id }) => id === to)
    const channel = user ? `D${String(user['id']).slice(1)}` : to
    if (!user && !fake.channels.has(channel)) return no('channel_not_found')
    if (fake.archived.has(channel)) return no('is_archived')
    const shown = readShown(fields)
    if ('error' in shown) return shown
    const ts = `${1_700_000_000 + ++count}.000100`
    fake.messages.push({ channel, ts, thread: fields['thread_ts'], edits: 0, text: shown.text, blocks: shown.blocks })
    return { ok: true, channel, ts, message: { ...shown, type: 'message' } }
  }

  function update(fields: SlackCall['fields']): Json {
    const found = fake.messages.find(({ channel, ts }) => channel === fields['channel'] && ts === fields['ts'])
    if (!found) return no('message_not_found')
    if (fake.archived.has(found.channel)) return no('is_archived')
    const shown = readShown(fields)
    if ('error' in shown) return shown
    Object.assign(found, shown, { edits: found.edits + 1 })
    return { ok: true, channel: found.channel, ts: found.ts }
  }

  function readShown(
    fields: SlackCall['fields'],
  ): { readonly error: string; readonly response_metadata?: object } | { text: string; blocks: readonly Json[] } {
    const text = fields['text'] ?? ''
    const blocks = JSON.parse(fields['blocks'] ?? '[]') as readonly Json[]
    if (text === '' && blocks.length === 0) return no('no_text')
    if (text.length > 40_000) return no('msg_too_long')
    const fault = findBlockFault(blocks)
    return fault === undefined
      ? { text, blocks }
      : { ...no('invalid_blocks'), response_metadata: { messages: [`[ERROR] ${fault}`] } }
  }

  const fake: FakeSlack = {
    api: `${await listen(server)}/api`,
    calls: [],
    messages: [],
    answers: [],
    users: new Map(),
    channels: new Set(['C0FINANCE']),
    archived: new Set(),
    token: 'xoxb-1-test',
    scopes: ALL_SCOPES,
    answer: () => undefined,
    onCall: () => {},
    until: (holds) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!holds()) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    close: () => stop(server),
  }
  return fake
}

const no = (error: string) => ({ ok: false, error })

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'users.info': ['users:read'],
  'users.lookupByEmail': ['users:read.email'],
}
