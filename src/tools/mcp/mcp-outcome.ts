/** Outcomes of calls to MCP servers: what the answer, an error or a time-out says about the call. */
import { shortenText } from '../../base/text/cut-text.ts'
import { innermostMessage } from '../../base/failure.ts'
import { findExceededBound, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { unsentCode } from '../../base/net/transport.ts'
import type { McpServer } from '../../spec/document.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { ToolMedia } from '../../spec/tool-media.ts'
import type { McpAnswer } from './mcp-answer.ts'
import { readContent, readContentText } from './mcp-content.ts'
import { McpFormError } from './mcp-exchange.ts'
import { ADDRESS_REQUIRED, QuestionProblem, readInputRequired, readRequiredAddresses } from './mcp-question.ts'
import type { McpTokenError } from '../oauth/authorization-server.ts'
import { takesLogin } from '../oauth/login.ts'
import {
  cutNote,
  exceededOutcome,
  failedOutcome,
  returnedOutcome,
  saysNotExecuted,
  unusableOutcome,
  type withDeadline,
} from '../outcome.ts'
import type { ToolOutcome } from '../tool.ts'

/** The HTTP status of an answer that did not come from the tool, or `protocol` for an error of the server's MCP layer. */
export function answerCodeOf(error: unknown): number | 'protocol' | undefined {
  const { code, status } = Object(error) as { code?: unknown; status?: unknown }
  if (typeof status === 'number') return status
  return typeof code === 'number' ? 'protocol' : undefined
}

/** What a server does wrong, as a sentence goes on after its name; undefined for any other error. */
export function formProblemOf(error: unknown): string | undefined {
  for (let here = error, depth = 0; here instanceof Error && depth < 8; here = here.cause, depth++)
    if (here instanceof McpFormError) return here.message
  return undefined
}

/** The server does not accept the credentials: the call waits for them, as for a secret that is not set. */
export const toUnauthorizedOutcome = (server: McpServer, agentSecrets: AgentSnapshot['secrets']): ToolOutcome => ({
  at: 'not_sent',
  code: 'secret_missing',
  error: `MCP server "${server.name}" answered 401: ${describeUnaccepted(server, agentSecrets)}`,
})

/** What an answer that is none of the MCP layer says, as a sentence goes on after the name of its server. */
export function describeStatus(
  server: McpServer,
  agentSecrets: AgentSnapshot['secrets'],
  status: number,
  error: unknown,
): string {
  if (status === 401) return `answers 401: ${describeUnaccepted(server, agentSecrets)}`
  const said = wordsOf(error)
  return `answers ${status}${said === '' ? ' and says nothing more.' : `: ${shortenText(said, 300)}`}`
}

/** What a server or a connection says. The SDK adds no more than that the request failed. */
const wordsOf = (error: unknown): string =>
  innermostMessage(error)
    .replace(/^Error POSTing to endpoint: /, '')
    .trim()

function describeUnaccepted(server: McpServer, agentSecrets: AgentSnapshot['secrets']): string {
  const { auth } = server
  if (auth === undefined) return 'It wants a credential, and its entry names none ("auth").'
  if (takesLogin(server)) return `It does not accept a token of its login. ${loginAgain(server)}`
  const what = auth.scheme === 'client_credentials' ? 'a token that was given for the secret' : 'the secret'
  return `It does not accept ${what} ${nameSecret(auth.secret, agentSecrets)}.`
}

const nameSecret = (name: string | undefined, secrets: AgentSnapshot['secrets']): string =>
  `"${name}" (environment variable ${secrets[name ?? '']?.fromEnv})`

const loginAgain = ({ name }: McpServer): string => `Run svc mcp login ${name}.`

/** No token: the call waits for another secret or login where this one is refused, and for the authorization server where that is away. */
export function toTokenOutcome(
  server: McpServer,
  agentSecrets: AgentSnapshot['secrets'],
  problem: McpTokenError,
): ToolOutcome {
  const error = `MCP server "${server.name}": ${describeTokenProblem(server, agentSecrets, problem)}`
  return { at: 'not_sent', code: problem.isRefused ? 'secret_missing' : unsentCode(problem.cause), error }
}

/** What is wrong, and where waiting does not help, what does. */
export function describeTokenProblem(
  server: McpServer,
  agentSecrets: AgentSnapshot['secrets'],
  { message, isRefused }: McpTokenError,
): string {
  if (!isRefused) return message
  const remedy = takesLogin(server)
    ? loginAgain(server)
    : `Check the secret ${nameSecret(server.auth?.secret, agentSecrets)}.`
  return `${message} ${remedy}`
}

export function toFailedCallOutcome(
  server: string,
  error: unknown,
  status: number | 'protocol' | undefined,
  dispatched: boolean,
  waitMs?: number,
): ToolOutcome {
  const later = waitMs !== undefined && { retryAfterMs: waitMs }
  const why = shortenText(wordsOf(error), 500)
  if (typeof status === 'number' && !mayHaveRun(status)) {
    const error = `MCP server "${server}" answered ${status}${why === '' ? '.' : `: ${why}`}`
    return status === 429
      ? { at: 'not_sent', code: 'unreachable', error, ...later }
      : { at: 'not_sent', code: 'refused', error }
  }
  const problem = formProblemOf(error)
  if (!dispatched && problem !== undefined)
    return { at: 'not_sent', code: 'refused', error: `MCP server "${server}" cannot be used: it ${problem}` }
  if (!dispatched)
    return { at: 'not_sent', code: unsentCode(error), error: `MCP server "${server}" cannot be reached: ${why}` }
  return {
    at: 'unknown',
    code: 'broken',
    error:
      typeof status === 'number'
        ? `MCP server "${server}" answered ${status}, which does not say whether the call was made${why === '' ? '.' : `: ${why}`}`
        : `The connection to MCP server "${server}" broke during the call: ${why}`,
    ...later,
  }
}

/** Whoever stands before a server answers so as well where the server took too long. */
const mayHaveRun = (status: number): boolean => status >= 500 || status === 408 || status === 499

type CallDeadline = Pick<ReturnType<typeof withDeadline>, 'timedOut'>

export function toAbortedCallOutcome(
  server: string,
  dispatched: boolean,
  { limit, timeoutMs, idleMs }: { readonly limit: CallDeadline; readonly timeoutMs: number; readonly idleMs?: number },
): ToolOutcome {
  const timedOut = limit.timedOut()
  const late =
    timedOut === 'idle'
      ? `MCP server "${server}" neither answered nor reported progress within ${idleMs} ms.`
      : `MCP server "${server}" did not answer within ${timeoutMs} ms.`
  if (dispatched)
    return timedOut
      ? { at: 'unknown', code: 'timeout', error: late }
      : { at: 'unknown', code: 'broken', error: 'The run was cancelled during the call.' }
  return timedOut
    ? { at: 'not_sent', code: 'unreachable', error: late }
    : { at: 'not_sent', code: 'cancelled', error: 'The run was cancelled before the call.' }
}

/** The outcome of a call that was answered, in whatever form: it was made, so it is never made again. */
export function toCallOutcome(server: string, answer: McpAnswer, durationMs: number): ToolOutcome {
  if (answer.at === 'error' && answer.code === ADDRESS_REQUIRED)
    return toAskedOutcome(durationMs, () => ({ questions: readRequiredAddresses(answer.data), endsWhenRefused: true }))
  if (answer.at === 'error') return returnedOutcome(answer.message, true, durationMs)
  const { cutAt } = answer
  if (answer.at === 'unreadable') {
    const wrote = answer.text.trim() === '' ? '' : `: ${answer.text.trim()}`
    return unusableOutcome(`the answer of MCP server "${server}" ${answer.why}${wrote}`, durationMs, cutAt)
  }
  const { result } = answer
  if (isJsonObject(result) && result['resultType'] === 'input_required')
    return toAskedOutcome(durationMs, () => readInputRequired(result))
  const { value, isError, details, media } = readResult(result, cutAt !== undefined)
  const exceeded = findExceededBound(value)
  if (exceeded !== undefined) return exceededOutcome(exceeded, durationMs)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  const shown = cutAt === undefined ? value : `${text}${cutNote('the answer', cutAt)}`
  const outcome = isError
    ? failedOutcome(shown, durationMs, saysNotExecuted(details) || saysNotExecuted(value))
    : returnedOutcome(shown, false, durationMs)
  return outcome.at === 'returned' && media !== undefined && media.length > 0 ? { ...outcome, media } : outcome
}

interface CallResult {
  readonly value: JsonValue
  readonly isError: boolean
  /** What the tool says of an error beside its text. */
  readonly details?: JsonValue
  readonly media?: readonly ToolMedia[]
}

/** Bytes of an answer that was cut may not be whole. A vendor refuses a whole request for an image in the result of a failed call. */
function whyNoMedia(isCut: boolean, isError: boolean): string | undefined {
  if (isCut) return 'the answer was cut'
  return isError ? 'the call failed' : undefined
}

/** The structured content; else the text, parsed if it is a JSON object or list; else the content. */
function readResult(result: JsonValue, isCut: boolean): CallResult {
  if (!isJsonObject(result)) return { value: result, isError: false }
  const { content, structuredContent: structured, isError: given, ...rest } = result
  const isError = given === true || given === 'true'
  const hasStructured = structured !== undefined && structured !== null
  const { text, parts, attached, media } = readContent(content, whyNoMedia(isCut, isError))
  if (isError) {
    const value = text ?? parts
    return {
      value: value === '' && hasStructured ? structured : value,
      isError,
      details: structured ?? null,
    }
  }
  if (hasStructured)
    return {
      value: attached.length === 0 ? structured : { structuredContent: structured, content: attached },
      isError,
      media,
    }
  if (content === undefined || content === null) return { value: bareResult(rest), isError }
  return { value: text === undefined ? parts : readContentText(text), isError, media }
}

type AskedOutcome = Extract<ToolOutcome, { at: 'asked' }>

/** The server has not made the call, and asks first. */
function toAskedOutcome(durationMs: number, read: () => Omit<AskedOutcome, 'at'>): ToolOutcome {
  try {
    return { at: 'asked', ...read() }
  } catch (error) {
    if (!(error instanceof QuestionProblem)) throw error
    const why = `The call was not made: its server asks a person first, and svc does not pass the question on, since it ${error.message}.`
    return failedOutcome(why, durationMs, true)
  }
}

/** The result of a server that has no member for content, as the first revision and some servers write it. */
function bareResult({ _meta, resultType: _type, toolResult, ...rest }: JsonObject): JsonValue {
  if (toolResult !== undefined) return toolResult
  return Object.keys(rest).length === 0 ? '' : rest
}
