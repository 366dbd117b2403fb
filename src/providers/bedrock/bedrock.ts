/** Amazon Bedrock's Converse API through the official SDK. Source: docs/design/models-and-tools.md#attempts */
import { Readable } from 'node:stream'
import type {
  BedrockRuntimeClient,
  BedrockRuntimeClientConfig,
  ConverseStreamCommandInput,
  ConverseStreamOutput,
} from '@aws-sdk/client-bedrock-runtime'
import { parseJsonIfAny } from '../../base/json/json.ts'
import type { FetchFunction } from '../../base/net/transport.ts'
import { toObjectSchema, vendorOptions } from '../arguments.ts'
import { loadOptionalSdk } from '../optional-sdk.ts'
import { claudeThinking } from '../claude-thinking.ts'
import { maxTokensWithThinking } from '../output-limit.ts'
import { ProviderError, type CompletionRequest, type ModelProvider } from '../provider.ts'
import { messageIn } from '../reading/error-body.ts'
import { StreamError } from '../reading/stream-error.ts'
import { incompleteStreamError } from '../sdk-error.ts'
import { createSdkProvider, type SdkParts } from '../sdk-provider.ts'
import { CACHE_POINT, hasCachePoints, isClaude, toConverseMessages } from './messages.ts'
import { collectConverse } from './converse-stream.ts'

export interface BedrockParts extends SdkParts {
  /** AWS region, for example `eu-central-1`. */
  readonly region: string
}

export const createBedrockProvider = (parts: BedrockParts): ModelProvider =>
  createSdkProvider(parts, {
    load: () => loadBedrock(parts),
    open: ({ send }, request, signal) => send(toInput(request), signal, request),
    collect: collectConverse,
  })

interface BedrockSender {
  readonly send: (
    input: ConverseStreamCommandInput,
    signal: AbortSignal,
    request: Pick<CompletionRequest, 'mayLeave' | 'trace'>,
  ) => Promise<AsyncIterable<ConverseStreamOutput>>
}

async function loadBedrock({ key, baseUrl, region, fetch, remedies }: BedrockParts): Promise<BedrockSender> {
  // The SDK's notice about later releases would go to stderr of every command.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] = 'true'
  const { BedrockRuntimeClient: Client, ConverseStreamCommand } = await loadOptionalSdk(
    '@aws-sdk/client-bedrock-runtime',
    () => import('@aws-sdk/client-bedrock-runtime'),
  )
  const client: BedrockRuntimeClient = new Client({
    region,
    ...(baseUrl !== undefined && { endpoint: baseUrl }),
    // A key is a Bedrock API key; without one the SDK looks for the credentials of the server.
    ...(key && {
      token: () => Promise.resolve({ token: key.reveal() }),
      authSchemePreference: ['httpBearerAuth'],
    }),
    maxAttempts: 1,
    requestHandler: handleWith(fetch),
  })
  return {
    async send(input, abortSignal, { mayLeave, trace }) {
      // The SDK hands its options on to `handle` as they are.
      const options: HandleOptions = { abortSignal, mayLeave, trace }
      try {
        const { stream } = await client.send(new ConverseStreamCommand(input), options)
        return namedErrors(stream ?? Readable.from([]))
      } catch (error) {
        if (error instanceof Error && /^(CredentialsProviderError|TokenProviderError)$/.test(error.name))
          throw new ProviderError(`${error.message.replace(/\.$/, '')}. ${remedies?.key ?? ''}`.trim(), {
            retryable: false,
            cause: error,
          })
        throw error
      }
    },
  }
}

/**
 * The SDK throws plain errors for exceptions that it does not know, with their body as message and their type as name, and for an
 * event that is cut or damaged.
 */
async function* namedErrors(stream: AsyncIterable<ConverseStreamOutput>): AsyncGenerator<ConverseStreamOutput, void> {
  try {
    yield* stream
  } catch (error) {
    if (!(error instanceof Error) || KNOWN_MEMBERS.some((name) => name in error) || error.cause !== undefined)
      throw error
    if (error.name === 'Error' || error instanceof RangeError)
      throw Object.assign(incompleteStreamError(), { cause: error })
    const body = parseJsonIfAny(error.message)
    throw new StreamError({ type: error.name, message: messageIn(body) ?? error.message })
  }
}

/** Members of errors that need no other form. */
const KNOWN_MEMBERS = ['$fault', '$metadata', 'code', 'status'] as const

type RequestHandler = Extract<
  NonNullable<BedrockRuntimeClientConfig['requestHandler']>,
  { handle: (...args: never[]) => unknown }
>

interface HandleOptions {
  readonly abortSignal?: AbortSignal
  readonly mayLeave?: CompletionRequest['mayLeave']
  readonly trace?: CompletionRequest['trace']
}

/** Sends the SDK's requests with our `fetch`, so that they obey the same rules as all others. */
const handleWith = (fetch: FetchFunction): RequestHandler =>
  ({
    async handle(
      request: Parameters<RequestHandler['handle']>[0],
      { abortSignal, mayLeave, trace }: HandleOptions = {},
    ) {
      const { protocol, hostname, port, path, query = {}, method, headers, body } = request
      const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
      for (const [name, value] of Object.entries(query as Record<string, string | string[] | null>))
        for (const each of [value].flat()) url.searchParams.append(name, each ?? '')
      const response = await fetch(url, {
        method,
        // Added after the request was signed: a proxy may change them.
        headers: { ...headers, ...trace },
        ...(body !== undefined && { body: body as string | Uint8Array<ArrayBuffer> }),
        ...(abortSignal && { signal: abortSignal }),
        mayLeave,
      })
      return {
        response: {
          statusCode: response.status,
          headers: Object.fromEntries(response.headers),
          body: Readable.from(response.body ?? []),
        },
      }
    },
  }) as RequestHandler

function toInput({ model, system, messages, tools }: CompletionRequest): ConverseStreamCommandInput {
  const { temperature, top_p, max_output_tokens, stop_sequences } = model.parameters ?? {}
  const { name } = model
  const effort = model.reasoning?.effort
  const cached = hasCachePoints(name)
  const thinks = isClaude(name) ? claudeThinking(model) : undefined
  const maxTokens = thinks ? maxTokensWithThinking(model) : max_output_tokens
  const reasons = effort !== undefined && name.includes('openai.') ? { reasoning_effort: effort } : undefined
  const more = thinks
    ? { thinking: thinks.thinking, ...('effort' in thinks && { output_config: { effort: thinks.effort } }) }
    : reasons
  return {
    modelId: name,
    messages: toConverseMessages(messages, cached),
    ...(system !== '' && { system: [{ text: system }, ...(cached ? [CACHE_POINT] : [])] }),
    ...(tools.length > 0 && {
      toolConfig: {
        tools: [
          ...tools.map(({ name: tool, description, schema }) => ({
            toolSpec: {
              name: tool,
              // An empty description is refused.
              ...(description !== '' && { description }),
              inputSchema: { json: toObjectSchema(schema) },
            },
          })),
          ...(cached ? [CACHE_POINT] : []),
        ],
      },
    }),
    inferenceConfig: {
      ...(maxTokens !== undefined && { maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(top_p !== undefined && { topP: top_p }),
      ...(stop_sequences !== undefined && { stopSequences: [...stop_sequences] }),
    },
    ...(more && { additionalModelRequestFields: more }),
    ...vendorOptions(model.provider_options),
  }
}
