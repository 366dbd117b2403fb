/** Models that are recorded, or played from a recording. Source: decisions, section 13, "Record and replay". */
import { digestOf } from '../base/digest.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { tapeRequest, type TapedRequest, type Cassette, type CassetteTape } from '../spec/cassette.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionPart,
  type CompletionRequest,
  type ModelProvider,
  type ModelProviders,
} from './provider.ts'

/**
 * The same models with their traffic recorded; or, where the cassette is played, no model at all: nothing is asked of a network
 * and no key is needed, and a request that was not recorded fails its run with the difference to the nearest one that was.
 */
export function withCassette(providers: ModelProviders, { record, replay }: Cassette): ModelProviders {
  const mostOutput: ModelProviders['mostOutput'] = (...of) => providers.mostOutput(...of)
  if (replay) return { choose: () => played(replay), mostOutput }
  if (!record) return providers
  return {
    mostOutput,
    choose(agent, model) {
      const provider = providers.choose(agent, model)
      return {
        async *complete(request, signal) {
          const asked = askModel(request)
          const keep = (answer: JsonObject): void =>
            record({ kind: asked.kind, key: asked.key, request: asked.request, answer: asked.toTape(answer) })
          try {
            for await (const part of provider.complete(request, signal)) {
              if (part.type === 'end') keep({ completion: part.completion as unknown as JsonObject })
              yield part
            }
          } catch (error) {
            if (error instanceof ProviderError) keep({ failure: toJson(error) })
            throw error
          }
        },
      }
    },
  }
}

const played = (tape: CassetteTape): ModelProvider => ({
  async *complete(request, signal): AsyncGenerator<CompletionPart> {
    signal.throwIfAborted()
    const asked = askModel(request)
    const answer = tape.answer(asked)
    if (!answer) throw new ProviderError(tape.miss(asked), { retryable: false })
    if (answer['failure'] !== undefined) throw toError(answer['failure'] as JsonObject)
    const completion = answer['completion'] as unknown as ModelCompletion
    if (completion.text !== '') yield { type: 'text', text: completion.text }
    yield { type: 'end', completion }
  },
})

/** All that an answer can follow from. What the offline models read besides is in the messages too. */
function askModel({ model, system, messages, tools, outputSchema }: CompletionRequest): TapedRequest {
  const { provider, name, parameters, reasoning, provider_options: options } = model
  const request = {
    model: { provider, name, parameters, reasoning, provider_options: options },
    system,
    messages: messages.map((message) =>
      message.role === 'user' ? { role: message.role, parts: message.parts.map(toPart) } : message,
    ),
    tools,
    outputSchema,
  }
  // Through text, so that what is undefined is absent here as it is on tape.
  return tapeRequest('model', JSON.parse(JSON.stringify(request)) as JsonObject)
}

const toPart = (part: (CompletionRequest['messages'][number] & { role: 'user' })['parts'][number]): JsonValue =>
  part.type === 'text'
    ? { type: part.type, text: part.text }
    : { type: part.type, mediaType: part.mediaType, digest: digestOf(part.bytes) }

const toJson = ({ message, status, retryable, retryAfterMs }: ProviderError): JsonObject => ({
  message,
  retryable,
  ...(status !== undefined && { status }),
  ...(retryAfterMs !== undefined && { retryAfterMs }),
})

const toError = (failure: JsonObject): ProviderError => {
  const { message, ...about } = failure as { message: string; retryable: boolean; status?: number }
  return new ProviderError(message, about)
}
