/**
 * Prompt caching: breakpoints after the tools, the system prompt and the last message of the user, so that the next completion of a
 * run reads everything before its own news from the vendor's cache. Source: docs/design/models-and-tools.md#attempts
 */
import type { CacheControlEphemeral, MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'

/**
 * Adds the breakpoints. `cache_control` among the options of the model replaces the vendor's five minutes, for example
 * `{type: ephemeral, ttl: 1h}`; null turns caching off.
 */
export function withCachePoints(
  params: MessageCreateParamsStreaming,
  options: JsonObject | undefined,
): MessageCreateParamsStreaming {
  const { cache_control: given, ...rest } = params
  if (options !== undefined && 'cache_control' in options && !isJsonObject(options['cache_control'])) return rest
  const cache_control: CacheControlEphemeral = given ?? { type: 'ephemeral' }
  const { tools, system } = rest
  const turn = rest.messages.findLastIndex(({ role }) => role === 'user')
  return {
    ...rest,
    ...(tools && { tools: markLast(tools, cache_control) }),
    ...(typeof system === 'string' && { system: [{ type: 'text' as const, text: system, cache_control }] }),
    messages: rest.messages.map((message, at) =>
      at === turn && Array.isArray(message.content)
        ? { role: 'user', content: markLast(message.content, cache_control) }
        : message,
    ),
  }
}

const markLast = <Part extends object>(parts: readonly Part[], cache_control: CacheControlEphemeral): Part[] =>
  parts.map((part, at) => (at === parts.length - 1 ? { ...part, cache_control } : part))
