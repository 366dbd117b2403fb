/** Records model traffic, or replays a recording. Source: docs/design/models-and-tools.md#record-and-replay */
import { digestOf } from '../base/digest.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import { fromJson, toJson } from '../base/json/typed-json.ts'
import {
  normalizeRequest,
  type NormalizedRequest,
  type Cassette,
  type CassetteReplay,
} from '../spec/project/cassette.ts'
import {
  ProviderError,
  type ModelCompletion,
  type CompletionPart,
  type CompletionRequest,
  type ModelProvider,
  type ModelProviders,
} from './provider.ts'

/**
 * Wraps providers to record their traffic. When the cassette replays, no provider is used: no network and no key are needed, and
 * a request that was not recorded fails its run with the difference to the nearest recorded request.
 */
export function withModelCassette(providers: ModelProviders, { record, replay }: Cassette): ModelProviders {
  const mostOutput: ModelProviders['maxOutputTokens'] = (...of) => providers.maxOutputTokens(...of)
  const terms: ModelProviders['terms'] = (...of) => providers.terms(...of)
  // A replay asks no vendor, so it is free.
  if (replay)
    return {
      choose: () => createReplayProvider(replay),
      maxOutputTokens: mostOutput,
      terms: (...of) => ({ ...terms(...of), price: 'free' }),
    }
  if (!record) return providers
  return {
    maxOutputTokens: mostOutput,
    terms,
    choose(agent, model) {
      const provider = providers.choose(agent, model)
      return {
        async *complete(request, signal) {
          const { kind, key, request: normalized, toRecorded } = toNormalizedRequest(request)
          const recordAnswer = (answer: JsonObject): void =>
            record({ kind, key, request: normalized, answer: toRecorded(answer) })
          try {
            for await (const part of provider.complete(request, signal)) {
              if (part.type === 'end') recordAnswer({ completion: toJson(part.completion) })
              yield part
            }
          } catch (error) {
            if (error instanceof ProviderError) recordAnswer({ failure: toRecordedFailure(error) })
            throw error
          }
        },
      }
    },
  }
}

const createReplayProvider = (replay: CassetteReplay): ModelProvider => ({
  async *complete(request, signal): AsyncGenerator<CompletionPart> {
    signal.throwIfAborted()
    const normalized = toNormalizedRequest(request)
    const answer = replay.answer(normalized)
    if (!answer) throw new ProviderError(replay.describeMiss(normalized), { retryable: false })
    if (answer['failure'] !== undefined) throw toError(answer['failure'] as JsonObject)
    const completion = fromJson<ModelCompletion>(answer['completion'], 'text')
    if (completion.text !== '') yield { type: 'text', text: completion.text }
    yield { type: 'end', completion }
  },
})

/** Everything that can influence an answer. The extra fields for offline models repeat what the messages contain. */
function toNormalizedRequest({ model, system, messages, tools, outputSchema }: CompletionRequest): NormalizedRequest {
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
  // Through JSON text, so that undefined members are absent, as they are in the recording.
  return normalizeRequest('model', JSON.parse(JSON.stringify(request)) as JsonObject)
}

const toPart = (part: (CompletionRequest['messages'][number] & { role: 'user' })['parts'][number]): JsonValue =>
  part.type === 'text'
    ? { type: part.type, text: part.text }
    : { type: part.type, mediaType: part.mediaType, digest: digestOf(part.bytes) }

const toRecordedFailure = ({ message, status, retryable, retryAfterMs, outage }: ProviderError): JsonObject => ({
  message,
  retryable,
  ...(status !== undefined && { status }),
  ...(retryAfterMs !== undefined && { retryAfterMs }),
  ...(outage && { outage }),
})

const toError = (failure: JsonObject): ProviderError => {
  const { message, ...about } = failure as { message: string; retryable: boolean; status?: number }
  return new ProviderError(message, about)
}
