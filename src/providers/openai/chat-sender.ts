/** Sends requests of chat completions. */
import type OpenAI from 'openai'
import { isJsonObject, textOf } from '../../base/json/json.ts'
import type { CompletionRequest } from '../provider.ts'
import { messageIn } from '../reading/error-body.ts'
import { readServerEvents, type ServerEvent } from '../reading/server-events.ts'
import { sendOptions } from '../sdk-provider.ts'
import { toChatRequest } from './chat.ts'

type OpenChat = (client: OpenAI, request: CompletionRequest, signal: AbortSignal) => Promise<AsyncIterable<ServerEvent>>

/**
 * What svc asks for by itself, and servers refuse by name: usage while they stream, and the schema of the output. Answers are checked
 * and usage is estimated without.
 */
const OWN_WISHES = ['stream_options', 'response_format'] as const
type OwnWish = (typeof OWN_WISHES)[number]

/**
 * A request that is refused for a wish is sent again without it, since the refusal costs nothing and does not depend on the author.
 * That is remembered for the name of the model.
 * @param isCompatible true for a server other than OpenAI
 */
export function createChatSender(isCompatible: boolean): OpenChat {
  const refused = new Map<string, ReadonlySet<OwnWish>>()
  return (client, request, signal) => {
    const { name, provider_options: given = {} } = request.model
    const send = async (without: ReadonlySet<OwnWish>): Promise<AsyncIterable<ServerEvent>> => {
      const params = toChatRequest(request, isCompatible)
      for (const wish of without) if (!Object.hasOwn(given, wish)) delete params[wish]
      try {
        const asked = client.chat.completions.create(params, { signal, ...sendOptions(request) })
        const response = await asked.asResponse()
        refused.set(name, without)
        // An answer that came whole has messages where a stream has deltas.
        return readServerEvents(response, (whole) => [whole])
      } catch (error) {
        const wish = OWN_WISHES.find((each) => each in params && !Object.hasOwn(given, each) && isAbout(error, each))
        if (wish === undefined) throw error
        return send(new Set([...without, wish]))
      }
    }
    return send(refused.get(name) ?? new Set())
  }
}

/** Whether a server refused the request and named a member of it. */
function isAbout(error: unknown, member: string): boolean {
  const { status, error: body } = Object(error) as { status?: unknown; error?: unknown }
  if ((status !== 400 && status !== 422) || !isJsonObject(body)) return false
  // Nothing else of the body, which may repeat the request.
  return [messageIn(body), body['param']].some((each) => textOf(each).includes(member))
}
