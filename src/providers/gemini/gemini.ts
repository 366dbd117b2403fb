/** Google's Gemini API through the official SDK. Source: docs/design/models-and-tools.md#attempts */
import type { GenerateContentConfig, GenerateContentResponse, GoogleGenAI, ThinkingLevel } from '@google/genai'
import type { FetchFunction } from '../../base/net/transport.ts'
import { toObjectSchema, vendorOptions } from '../arguments.ts'
import { loadOptionalSdk } from '../optional-sdk.ts'
import { thinkingBudget } from '../output-limit.ts'
import type { CompletionRequest, ModelProvider } from '../provider.ts'
import { withErrorText } from '../reading/error-text.ts'
import { FormProblem } from '../reading/form-problem.ts'
import { withCleanEvents } from '../reading/server-events.ts'
import { StreamError } from '../reading/stream-error.ts'
import { incompleteStreamError } from '../sdk-error.ts'
import { createSdkProvider, type SdkParts } from '../sdk-provider.ts'
import { toContents } from './contents.ts'
import { collectContent } from './content-stream.ts'

/** Ties a request to its guard, since the SDK hands only headers on to our `fetch`; never sent. */
const GUARD_HEADER = 'svc-guard'

export function createGeminiProvider(parts: SdkParts): ModelProvider {
  const guards = new Map<string, CompletionRequest['mayLeave']>()
  let requests = 0
  const send = withErrorText(parts.fetch)
  const fetch: FetchFunction = async (input, init) => {
    const headers = new Headers(init?.headers)
    const mayLeave = guards.get(headers.get(GUARD_HEADER) ?? '')
    headers.delete(GUARD_HEADER)
    const response = await send(input, { ...init, headers, mayLeave })
    const { status, headers: given } = response
    // The SDK would throw a plain error.
    if (!response.ok && status < 400) throw Object.assign(new Error('a redirect'), { status, headers: given })
    return withCleanEvents(response)
  }
  return createSdkProvider(parts, {
    load: () => loadGeminiClient({ ...parts, fetch }),
    async open(client, request, signal) {
      const guard = String(++requests)
      guards.set(guard, request.mayLeave)
      try {
        const events = await client.models.generateContentStream({
          model: request.model.name,
          contents: toContents(request.messages, request.model.name),
          config: {
            ...toConfig(request),
            abortSignal: signal,
            httpOptions: { headers: { ...request.trace, [GUARD_HEADER]: guard } },
          },
        })
        return wholeEvents(events)
      } finally {
        guards.delete(guard)
      }
    },
    collect: collectContent,
  })
}

async function loadGeminiClient({ key, baseUrl, fetch }: SdkParts): Promise<GoogleGenAI> {
  const { GoogleGenAI: Client } = await loadOptionalSdk('@google/genai', () => import('@google/genai'))
  return new Client({
    apiKey: key?.reveal() ?? '',
    // The environment could choose Vertex AI, which takes other credentials.
    vertexai: false,
    httpOptions: {
      baseUrl: (baseUrl ?? 'https://generativelanguage.googleapis.com').replace(/\/+$/, '').replace(/\/v1(beta)?$/, ''),
      fetch,
    },
  })
}

/** The SDK throws plain errors for an event that is cut or unreadable. */
async function* wholeEvents(
  events: AsyncIterable<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse, void> {
  let isEmpty = true
  try {
    for await (const event of events) {
      isEmpty = false
      yield event
    }
  } catch (error) {
    const { code, status, cause } = Object(error) as { code?: unknown; status?: unknown; cause?: unknown }
    if (!(error instanceof Error) || code !== undefined || status !== undefined || cause !== undefined) throw error
    if (error instanceof StreamError || error instanceof FormProblem) throw error
    // A body without any event is no answer of the vendor.
    if (isEmpty) return
    throw Object.assign(incompleteStreamError(), { cause: error })
  }
}

/** The third generation has levels of thinking in place of budgets, and structured output beside tools. */
const hasThinkingLevels = (model: string): boolean => Number(/^gemini-(\d+)/.exec(model)?.[1] ?? 0) >= 3

function toConfig({ model, system, tools, outputSchema }: CompletionRequest): GenerateContentConfig {
  const { temperature, top_p, max_output_tokens, stop_sequences } = model.parameters ?? {}
  const effort = model.reasoning?.effort
  const hasLevels = hasThinkingLevels(model.name)
  const isStructured = outputSchema !== undefined && (tools.length === 0 || hasLevels)
  return {
    ...(system !== '' && { systemInstruction: system }),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, schema }) => ({
            name,
            description,
            parametersJsonSchema: toObjectSchema(schema),
          })),
        },
      ],
    }),
    ...(temperature !== undefined && { temperature }),
    ...(top_p !== undefined && { topP: top_p }),
    ...(max_output_tokens !== undefined && { maxOutputTokens: max_output_tokens }),
    ...(stop_sequences !== undefined && { stopSequences: [...stop_sequences] }),
    ...(effort !== undefined && {
      thinkingConfig: hasLevels
        ? // A type-only import has no enum; its members are their names.
          { thinkingLevel: effort.toUpperCase() as ThinkingLevel }
        : { thinkingBudget: thinkingBudget(model) },
    }),
    ...(isStructured && { responseMimeType: 'application/json', responseJsonSchema: outputSchema }),
    ...vendorOptions(model.provider_options),
  }
}
