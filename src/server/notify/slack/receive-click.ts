/**
 * Clicks in Slack. A request counts only if Slack signed it; a click only if its button stands in a message that svc sent for this task, and
 * only for the person whom Slack and svc know by one address. Whatever a click does not decide is answered in words.
 * Source: docs/design/notifications.md#clicks
 */
import { fail } from '../../../base/failure.ts'
import { EXTERNAL_JSON, isJsonObject, parseJson, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { within } from '../../../base/signal-within.ts'
import type { ChannelConfig } from '../../../spec/project/config.ts'
import { withDeadline } from '../../../tools/outcome.ts'
import { readBytes } from '../../http/body.ts'
import type { HttpReply } from '../../http/reply.ts'
import type { RouteHandler } from '../../http/route.ts'
import { readDrawnTask, type DrawnTask } from '../chat/decide-in-chat.ts'
import type { ChannelParts } from '../channel.ts'
import { ACTIONS, escapeMarkup, slackText, textIn } from './draw-blocks.ts'
import { drawRejection, drawWords, readRejection, type ClickPlace } from './draw-modal.ts'
import { DEFAULT_API, type SlackApi } from './slack-api.ts'
import type { SlackIdentity, SlackPeople } from './slack-people.ts'
import { refsOfTask } from './slack-refs.ts'
import { isSignedBySlack } from './slack-signature.ts'
import { parseUrl } from '../../../base/net/parse-url.ts'

/** A click carries the message in which it was made. */
const MOST_BYTES = 512 * 1024
/** Slack waits 3 s; what takes longer goes on, and is said later. */
const ACKNOWLEDGED_MS = 2000

const ACKNOWLEDGED: HttpReply = { status: 200 }

export function receiveSlackClicks(
  config: ChannelConfig,
  parts: ChannelParts,
  api: SlackApi,
  people: SlackPeople,
  redraw: (task: DrawnTask['taskId'], signal: AbortSignal) => Promise<void>,
): RouteHandler {
  const { env, clock, desk, name, timeoutMs } = parts
  const { signing_secret: secret, api: address = DEFAULT_API } = config.slack!

  return async (call) => {
    const key = env[secret!.fromEnv]?.trim() ?? ''
    const body = await readBytes(call, MOST_BYTES)
    const { headers } = call.request
    const request = {
      timestamp: headers.get('x-slack-request-timestamp'),
      signature: headers.get('x-slack-signature'),
      body,
    }
    if (key === '' || !isSignedBySlack(request, key, clock.now())) throw fail('not_signed_by_slack')
    const payload = readPayload(body)
    const limit = withDeadline(timeoutMs, new AbortController().signal)
    const work = handle(payload, limit.signal).finally(() => limit.release())
    // It fails later than that where Slack is away: there is nobody left whom to tell.
    work.catch(() => {})
    return (await within(ACKNOWLEDGED_MS, work)) ? await work : ACKNOWLEDGED
  }

  async function handle(payload: JsonObject, signal: AbortSignal): Promise<HttpReply> {
    if (payload['type'] === 'view_submission') return await handleRejection(payload, signal)
    const action = Array.isArray(payload['actions']) ? payload['actions'][0] : undefined
    const [id, value] = [textIn(action, 'action_id'), textIn(action, 'value') ?? '']
    if (payload['type'] !== 'block_actions' || (id !== ACTIONS.approve && id !== ACTIONS.reject)) return ACKNOWLEDGED
    const place = placeOf(payload, value)
    if (id === ACTIONS.approve) await say(place, await decide(payload, place, true, undefined, signal), signal)
    else await openRejection(payload, place, signal)
    return ACKNOWLEDGED
  }

  /** @returns what to tell the person; undefined where the message tells it */
  async function decide(
    payload: JsonObject,
    { value, channel, ts }: ClickPlace,
    approved: boolean,
    comment: string | undefined,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const drawn = readDrawnTask(value)
    const words = await findRefusal(drawn, channel, ts)
    if (!drawn || words !== undefined) return words ?? UNKNOWN_MESSAGE
    const person = await identify(payload, signal)
    if (person.at === 'unknown') return `Nothing was decided: ${person.why}.`
    const { email, credentials } = person
    const given = comment === undefined ? {} : { comment }
    const answer = await desk.decide({ ...drawn, ...given, approved, email, credentials, channel: 'slack' })
    // The outbox draws it, too; here it is drawn for the person who looks at it.
    if (answer !== undefined) await redraw(drawn.taskId, signal).catch(() => {})
    return answer
  }

  async function identify(payload: JsonObject, signal: AbortSignal): Promise<SlackIdentity> {
    try {
      return await people.identify(textIn(payload['user'], 'id') ?? '', signal)
    } catch (error) {
      return { at: 'unknown', why: `Slack did not say who you are (${(error as Error).message})` }
    }
  }

  async function findRefusal(drawn: DrawnTask | undefined, channel: string, ts: string): Promise<string | undefined> {
    if (!drawn) return UNKNOWN_MESSAGE
    const refs = refsOfTask(await desk.noticesOf(drawn.taskId), name, drawn.taskId)
    return refs.some((ref) => ref.channel === channel && ref.ts === ts) ? undefined : UNKNOWN_MESSAGE
  }

  async function openRejection(payload: JsonObject, place: ClickPlace, signal: AbortSignal): Promise<void> {
    const words = await findRefusal(readDrawnTask(place.value), place.channel, place.ts)
    if (words !== undefined) return await say(place, words, signal)
    const trigger = textIn(payload, 'trigger_id') ?? ''
    try {
      await api.call('views.open', { trigger_id: trigger, view: JSON.stringify(drawRejection(place)) }, signal)
    } catch (error) {
      await say(place, `Nothing was decided: ${(error as Error).message}. Reject it in the console.`, signal)
    }
  }

  async function handleRejection(payload: JsonObject, signal: AbortSignal): Promise<HttpReply> {
    const rejection = readRejection(payload['view'])
    if (!rejection) return ACKNOWLEDGED
    const { place, comment } = rejection
    const words = await decide(payload, place, false, comment, signal)
    return words === undefined
      ? ACKNOWLEDGED
      : { status: 200, json: { response_action: 'update', view: drawWords(words) } }
  }

  /** To this person alone, below the message. */
  async function say({ answerTo }: ClickPlace, words: string | undefined, signal: AbortSignal): Promise<void> {
    if (words === undefined || !isAddressOfSlack(answerTo, address)) return
    const sent = parts.fetch(answerTo, {
      method: 'POST',
      redirect: 'manual',
      signal,
      headers: { 'content-type': 'application/json', 'user-agent': 'svc' },
      body: JSON.stringify({
        response_type: 'ephemeral',
        replace_original: false,
        text: escapeMarkup(words),
        blocks: [{ type: 'section', text: slackText(words, 3000) }],
      }),
    })
    // Where Slack is away, nobody can be told.
    await sent.then((response) => response.body?.cancel()).catch(() => {})
  }
}

const UNKNOWN_MESSAGE =
  'Nothing was decided: this message is not the one that svc keeps of the task. Decide in the newer message, or in the console.'

/** @throws Failure `invalid_json` */
function readPayload(body: Uint8Array): JsonObject {
  const text = new URLSearchParams(Buffer.from(body).toString('utf8')).get('payload') ?? ''
  let payload: JsonValue
  try {
    payload = parseJson(text, EXTERNAL_JSON)
  } catch {
    throw fail('invalid_json', { why: 'it has no payload of Slack' })
  }
  if (!isJsonObject(payload)) throw fail('invalid_json', { why: 'its payload is no object' })
  return payload
}

function placeOf(payload: JsonObject, value: string): ClickPlace {
  const { container } = payload
  return {
    value,
    channel: textIn(container, 'channel_id') ?? '',
    ts: textIn(container, 'message_ts') ?? '',
    answerTo: textIn(payload, 'response_url') ?? '',
  }
}

/** Answers go to Slack, whatever a request names. */
function isAddressOfSlack(text: string, api: string): boolean {
  const [given, own] = [parseUrl(text), new URL(api)]
  if (given === undefined) return false
  return given.origin === own.origin || (given.protocol === 'https:' && given.hostname === `hooks.${own.hostname}`)
}
