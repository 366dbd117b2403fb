/**
 * Sends requests of OpenAI's interfaces to OpenAI, to compatible servers and to Azure: a POST whose answer is read as it comes. Of the
 * vendor's SDK only the types of requests are used: as a client it took a tenth of the processor time of a run with three tools.
 * Source: docs/design/models-and-tools.md#attempts
 */
import { expectDefined } from '../../base/values/expect-defined.ts'
import { isJsonObject, parseJson, type JsonObject } from '../../base/json/json.ts'
import type { CompletionRequest } from '../provider.ts'
import type { SdkParts } from '../sdk-provider.ts'

export interface OpenaiParts extends SdkParts {
  /**
   * `compatible` is a server other than OpenAI: it gets no OpenAI organization of the environment, and may need no key. `azure` is
   * a resource of Azure OpenAI.
   */
  readonly vendor: 'openai' | 'compatible' | 'azure'
  /** The dated API of Azure, for example `2025-04-01-preview`; its undated v1 API when absent. */
  readonly apiVersion?: string
}

/** @throws OpenaiRefusal, UnsentError, or the error of the connection */
export type SendOpenai = (
  path: '/chat/completions' | '/responses',
  body: object,
  request: Pick<CompletionRequest, 'mayLeave' | 'model' | 'trace'>,
  signal: AbortSignal,
) => Promise<Response>

/** What a server answered in place of a completion, with the members of its error that callers look at. */
export class OpenaiRefusal extends Error {
  override readonly name = 'OpenaiRefusal'
  readonly status: number
  readonly headers: Response['headers']
  readonly error: JsonObject | undefined

  constructor({ status, headers }: Response, text: string) {
    super(`${status} ${text.trim() || 'status code (no body)'}`)
    this.status = status
    this.headers = headers
    this.error = errorIn(text)
  }
}

export function createOpenaiSender(parts: OpenaiParts): SendOpenai {
  const addressOf = createAddresses(parts)
  const own = headersOf(parts)
  return async (path, body, { mayLeave, model, trace }, signal) => {
    const response = await parts.fetch(addressOf(path, model.name), {
      method: 'POST',
      headers: { ...own, ...trace },
      body: JSON.stringify(body),
      signal,
      mayLeave,
    })
    if (response.ok) return response
    // A refusal whose text breaks off is still a refusal.
    const text = await response.text().catch((error: unknown) => String(error))
    throw new OpenaiRefusal(response, text)
  }
}

function createAddresses({ vendor, baseUrl, apiVersion }: OpenaiParts): (path: string, model: string) => string {
  // Documents give either the full endpoint or the base URL.
  const given = baseUrl?.replace(/\/+$/, '').replace(/\/(chat\/completions|responses)$/, '')
  if (vendor !== 'azure') return (path) => `${given ?? 'https://api.openai.com/v1'}${path}`
  const resource = expectDefined(given, 'the address of a resource of Azure is required').replace(
    /\/openai(\/v1)?$/,
    '',
  )
  if (apiVersion === undefined) return (path) => `${resource}/openai/v1${path}`
  const query = `?api-version=${encodeURIComponent(apiVersion)}`
  // The dated API names the deployment of chat completions in the path.
  return (path, model) =>
    `${resource}/openai${path === '/responses' ? '' : `/deployments/${encodeURIComponent(model)}`}${path}${query}`
}

function headersOf({ vendor, key }: OpenaiParts): Readonly<Record<string, string>> {
  const secret = key?.reveal()
  const { OPENAI_ORG_ID: organization, OPENAI_PROJECT_ID: project } = vendor === 'openai' ? process.env : {}
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'user-agent': 'svc',
    ...(secret !== undefined && (vendor === 'azure' ? { 'api-key': secret } : { authorization: `Bearer ${secret}` })),
    ...(organization && { 'openai-organization': organization }),
    ...(project && { 'openai-project': project }),
  }
}

/** OpenAI puts the error into a member of its answer; other servers send it as it is, or as a sentence. */
function errorIn(text: string): JsonObject | undefined {
  try {
    const body = parseJson(text)
    if (!isJsonObject(body)) return undefined
    const { error = body } = body
    if (typeof error === 'string') return { message: error }
    return isJsonObject(error) ? error : undefined
  } catch {
    return undefined
  }
}
