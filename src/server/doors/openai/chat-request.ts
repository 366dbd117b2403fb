/** Reads what clients of OpenAI's interfaces send, as far as an agent takes it. */
import { fail } from '../../../base/failure.ts'
import { shortenText } from '../../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'

export interface ChatMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export interface ChatRequest {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly stream: boolean
  readonly includeUsage: boolean
  /** What the client calls the conversation. */
  readonly conversation?: string
}

export interface ResponsesRequest extends ChatRequest {
  readonly previousResponse?: string
  readonly background: boolean
}

/** Longest name of a conversation. */
const MOST_NAME = 200

/** @throws Failure `validation_failed` */
export function parseChatRequest(body: unknown): ChatRequest {
  const given = toBody(body)
  refuseUnable(given)
  const { messages, stream_options: options } = given
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('/messages', 'must be a list of messages')
  return {
    model: requireModel(given),
    messages: readMessages(messages, '/messages'),
    stream: given['stream'] === true,
    includeUsage: isJsonObject(options) && options['include_usage'] === true,
    ...readConversation(given),
  }
}

/** @throws Failure `validation_failed` */
export function parseResponsesRequest(body: unknown): ResponsesRequest {
  const given = toBody(body)
  refuseUnable(given)
  const { input, previous_response_id: previous } = given
  if (typeof input !== 'string' && !Array.isArray(input))
    throw invalid('/input', 'must be a text or a list of messages')
  const messages = typeof input === 'string' ? [{ role: 'user' as const, text: input }] : readMessages(input, '/input')
  return {
    model: requireModel(given),
    messages,
    stream: given['stream'] === true,
    includeUsage: true,
    background: given['background'] === true,
    ...(typeof previous === 'string' && { previousResponse: previous }),
    ...readConversation(given),
  }
}

const toBody = (body: unknown): JsonObject => {
  if (!isJsonObject(body)) throw invalid('', 'must be an object')
  return body
}

function requireModel({ model }: JsonObject): string {
  if (typeof model !== 'string' || model === '') throw invalid('/model', 'must be the name of a deployed agent')
  return model
}

/** What would change the meaning of an answer is refused; how a model samples is the agent's, and left unread. */
function refuseUnable(given: JsonObject): void {
  for (const name of ['tools', 'functions'])
    if (Array.isArray(given[name]) && given[name].length > 0)
      throw invalid(`/${name}`, 'must be empty: an agent has tools of its own')
  if (typeof given['n'] === 'number' && given['n'] > 1) throw invalid('/n', 'must be 1')
  const { modalities } = given
  if (Array.isArray(modalities) && modalities.some((each) => each !== 'text'))
    throw invalid('/modalities', 'must be text')
}

/** Instructions of a client are left out: those of an agent are in its document. */
function readMessages(items: readonly unknown[], path: string): readonly ChatMessage[] {
  const messages = items.flatMap((item, at): readonly ChatMessage[] => {
    if (!isJsonObject(item)) throw invalid(`${path}/${at}`, 'must be a message')
    const { role, content, type } = item
    if (role === 'system' || role === 'developer') return []
    if (role !== 'user' && role !== 'assistant')
      throw invalid(`${path}/${at}`, `is ${describeItem(role ?? type)}, which an agent does not take`)
    return [{ role, text: readContent(content, `${path}/${at}/content`) }]
  })
  if (messages.at(-1)?.role !== 'user') throw invalid(path, 'must end with a message of the user')
  return messages
}

const describeItem = (kind: unknown): string =>
  typeof kind === 'string' ? `of kind ${shortenText(kind, 40)}` : 'no message'

function readContent(content: unknown, path: string): string {
  if (typeof content === 'string') return content
  if (content === null || content === undefined) return ''
  if (!Array.isArray(content)) throw invalid(path, 'must be a text or a list of parts')
  const texts = content.map((part, at) => {
    const { type, text } = isJsonObject(part) ? part : {}
    if (typeof text === 'string' && (type === 'text' || type === 'input_text' || type === 'output_text')) return text
    throw invalid(`${path}/${at}`, 'must be text: files are sent to /v1/file-library, and named in the input')
  })
  return texts.join('\n')
}

function readConversation({ metadata, conversation }: JsonObject): { readonly conversation?: string } {
  const name =
    (isJsonObject(conversation) ? conversation['id'] : conversation) ??
    (isJsonObject(metadata) ? metadata['session'] : undefined)
  if (name === undefined || name === null) return {}
  if (typeof name !== 'string' || name === '' || name.length > MOST_NAME)
    throw invalid('/metadata/session', `must be text of 1 to ${MOST_NAME} characters`)
  return { conversation: name }
}

export const invalid = (path: string, message: string) =>
  fail(
    'validation_failed',
    { what: `${path || 'The body'} ${message}.` },
    { details: [{ path: path || '/', message }] },
  )
