/** Reads what a front end sends over AG-UI, as far as an agent takes it: the last messages of a person, or answers to what waits. */
import { fail } from '../../../base/failure.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'

export interface AgUiInput {
  readonly threadId: string
  readonly runId: string
  /** What the person wrote since the last answer. */
  readonly message: string
  readonly resume: readonly AgUiAnswer[]
}

export interface AgUiAnswer {
  readonly interruptId: string
  readonly isCancelled: boolean
  readonly payload: JsonValue | undefined
}

const MOST_ID = 200
const MOST_ANSWERS = 100

/** @throws Failure `validation_failed` */
export function parseAgUiInput(body: unknown): AgUiInput {
  if (!isJsonObject(body)) throw invalid('/', 'must be an object')
  const { messages, resume, tools } = body
  if (Array.isArray(tools) && tools.length > 0) throw invalid('/tools', 'must be empty: an agent has tools of its own')
  return {
    threadId: requireId(body, 'threadId'),
    runId: requireId(body, 'runId'),
    message: Array.isArray(messages) ? lastWords(messages) : '',
    resume: readResume(resume),
  }
}

/** @throws Failure `validation_failed` where nothing was written */
export function requireMessage({ message }: AgUiInput): string {
  if (message === '') throw invalid('/messages', 'must end with a message of the user')
  return message
}

function requireId(body: JsonObject, name: string): string {
  const id = body[name]
  if (typeof id !== 'string' || id === '' || id.length > MOST_ID || !id.isWellFormed())
    throw invalid(`/${name}`, `must be text of 1 to ${MOST_ID} characters`)
  return id
}

function lastWords(messages: readonly JsonValue[]): string {
  const roleOf = (message: JsonValue | undefined): unknown => (isJsonObject(message) ? message['role'] : undefined)
  const begin = messages.findLastIndex((each) => roleOf(each) === 'assistant' || roleOf(each) === 'tool') + 1
  return messages
    .slice(begin)
    .flatMap((message, at) =>
      isJsonObject(message) && message['role'] === 'user'
        ? [readContent(message['content'], `/messages/${begin + at}/content`)]
        : [],
    )
    .join('\n\n')
}

function readContent(content: JsonValue | undefined, path: string): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw invalid(path, 'must be a text or a list of parts')
  return content
    .map((part, at) => {
      const { type, text } = isJsonObject(part) ? part : {}
      if (type === 'text' && typeof text === 'string') return text
      throw invalid(`${path}/${at}`, 'must be text: files are sent to /v1/file-library, and named in the input')
    })
    .join('\n')
}

function readResume(resume: JsonValue | undefined): readonly AgUiAnswer[] {
  if (resume === undefined || resume === null) return []
  if (!Array.isArray(resume) || resume.length > MOST_ANSWERS)
    throw invalid('/resume', `must be a list of at most ${MOST_ANSWERS} answers`)
  const answers = resume.map((entry, at): AgUiAnswer => {
    const { interruptId, status, payload } = isJsonObject(entry) ? entry : {}
    if (typeof interruptId !== 'string') throw invalid(`/resume/${at}/interruptId`, 'must be the id of an interrupt')
    if (status !== 'resolved' && status !== 'cancelled')
      throw invalid(`/resume/${at}/status`, 'must be resolved or cancelled')
    return { interruptId, isCancelled: status === 'cancelled', payload }
  })
  if (new Set(answers.map((each) => each.interruptId)).size < answers.length)
    throw invalid('/resume', 'answers an interrupt twice')
  return answers
}

const invalid = (path: string, message: string) =>
  fail('validation_failed', { what: `${path} ${message}.` }, { details: [{ path, message }] })
