/**
 * Questions that the server of a tool asks a person in the middle of a call ("elicitation" in MCP), and their answers.
 * Source: docs/design/foreign-peers.md#questions-of-servers
 */
import { isJsonObject, parseJson, type JsonObject, type JsonValue } from '../base/json/json.ts'

/** A question as its server wrote it, within bounds. It has a `schema` or a `url`. */
export interface ServerQuestion {
  /** The server's own name for it, unique among the questions of one answer. */
  readonly name: string
  readonly message: string
  /** A flat object of texts, numbers, booleans and choices: what the answer has to be. */
  readonly schema?: JsonObject
  /** An address that a person opens and then comes back. */
  readonly url?: string
}

/** As the protocol words it: `decline` is a no, `cancel` no answer at all. */
export interface ServerAnswer {
  readonly action: 'accept' | 'decline' | 'cancel'
  readonly content?: JsonObject
}

export interface NamedServerAnswer extends ServerAnswer {
  /** Of the question. */
  readonly name: string
}

/** What the server of a call has asked for, until the call is settled. */
export interface ServerInput {
  /** Questions so far; a round without a question counts as one. */
  readonly asked: number
  /** Attempts of the call that ended with questions. */
  readonly rounds: number
  /** Not answered yet; a person has the first. */
  readonly open: readonly ServerQuestion[]
  /** For the next attempt. */
  readonly answers: readonly NamedServerAnswer[]
  /** What the server wants to get back with them, as it gave it. */
  readonly state?: string
  /** Without a yes, the call is not made. */
  readonly endsWhenRefused?: true
}

/** What a task shows of a question beside its message. */
export interface TaskQuestion {
  /** The server as the agent names it. */
  readonly server: string
  /** Logical id of the tool that was called. */
  readonly tool: string
  readonly schema?: JsonObject
  readonly url?: string
}

/** The words of a task, with their author where that is a server. */
export const wordsOfTask = ({
  question,
  prompt,
  title,
}: {
  readonly question?: TaskQuestion
  readonly prompt?: string
  readonly title: string
}): string => (question ? `MCP server ${question.server} asks: ${prompt ?? ''}` : (prompt ?? title))

/** Metadata of an answer that closes a question without one. */
export const CANCELS_QUESTION = 'svc/cancel'

/** How a person gives the answer: as the value of one field, or as a JSON object of all. */
interface AnswerForm {
  readonly kind: 'text' | 'number' | 'multi_option'
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly min?: number
  readonly max?: number
}

/** What a person answers, as far as it matters to a question. */
interface GivenValues {
  readonly approved?: boolean
  readonly selectedOptionId?: string
  readonly textValue?: string
  readonly numberValue?: number
  readonly metadata?: JsonObject
}

export function answerFormOf({ schema, url }: Pick<ServerQuestion, 'schema' | 'url'>): AnswerForm {
  if (url !== undefined)
    return { kind: 'multi_option', options: [{ id: 'done', label: 'I have opened the address and am done there' }] }
  const fields = questionFieldsIn(schema)
  if (fields.length === 0) return { kind: 'multi_option', options: [{ id: 'accept', label: 'Accept' }] }
  const field = soleFieldOf(schema)
  if (!field) return { kind: 'text' }
  const { type, minimum: min, maximum: max, enum: choices } = field.schema
  if (type === 'boolean')
    return {
      kind: 'multi_option',
      options: [
        { id: 'true', label: 'Yes' },
        { id: 'false', label: 'No' },
      ],
    }
  if (Array.isArray(choices))
    return {
      kind: 'multi_option',
      options: choices.map((id) => ({ id: id as string, label: labelOf(field, id as string) })),
    }
  if (type !== 'number' && type !== 'integer') return { kind: 'text' }
  return { kind: 'number', ...(typeof min === 'number' && { min }), ...(typeof max === 'number' && { max }) }
}

/** True for a question that is answered with a JSON object of its fields, as text. */
export const isAnsweredWithFields = ({ schema }: Pick<ServerQuestion, 'schema'>): boolean =>
  questionFieldsIn(schema).length > 0 && soleFieldOf(schema) === undefined

/**
 * The action that a person has chosen, and its content; a text says why what was given is none.
 * @param given an answer to the task of the question
 */
export function readServerAnswer(
  question: Pick<ServerQuestion, 'schema' | 'url'>,
  given: GivenValues,
): ServerAnswer | string {
  if (given.approved === false) return { action: given.metadata?.[CANCELS_QUESTION] === true ? 'cancel' : 'decline' }
  if (question.url !== undefined) return { action: 'accept' }
  const content = readContent(question.schema, given)
  return typeof content === 'string' ? content : { action: 'accept', content }
}

/** The answer of a task that is decided. */
export function serverAnswerOf(
  question: TaskQuestion,
  answer: GivenValues & { readonly outcome: string },
): ServerAnswer {
  if (answer.outcome === 'timed_out' || answer.outcome === 'cancelled') return { action: 'cancel' }
  const read = readServerAnswer(question, answer)
  return typeof read === 'string' ? { action: 'cancel' } : read
}

function readContent(
  schema: JsonObject | undefined,
  { selectedOptionId, textValue = '', numberValue }: GivenValues,
): JsonObject | string {
  const fields = questionFieldsIn(schema)
  if (fields.length === 0) return {}
  const field = soleFieldOf(schema)
  if (field) {
    const isLeftOut = textValue === '' && selectedOptionId === undefined && numberValue === undefined
    if (isLeftOut && !isRequired(schema, field.name)) return {}
    const value = field.schema['type'] === 'boolean' ? selectedOptionId === 'true' : (selectedOptionId ?? numberValue)
    return { [field.name]: value ?? textValue }
  }
  try {
    const value = parseJson(textValue)
    if (isJsonObject(value)) return value
  } catch {
    // Answered below.
  }
  return `The answer is a JSON object with the fields ${fields.map(({ name }) => name).join(', ')}.`
}

export interface QuestionField {
  readonly name: string
  readonly schema: JsonObject
}

export const questionFieldsIn = (schema: JsonObject | undefined): readonly QuestionField[] =>
  isJsonObject(schema?.['properties'] ?? null)
    ? Object.entries(schema!['properties'] as JsonObject).flatMap(([name, each]) =>
        isJsonObject(each) ? [{ name, schema: each }] : [],
      )
    : []

export const isRequired = (schema: JsonObject | undefined, name: string): boolean =>
  Array.isArray(schema?.['required']) && schema['required'].includes(name)

/** The field whose value is the answer; undefined where there are several, or where it takes several values. */
function soleFieldOf(schema: JsonObject | undefined): QuestionField | undefined {
  const [field, ...more] = questionFieldsIn(schema)
  return more.length > 0 || field?.schema['type'] === 'array' ? undefined : field
}

/** Names of choices, in their order. */
export const CHOICE_NAMES = 'x-svc-names'

function labelOf({ schema }: QuestionField, choice: string): string {
  const names = schema[CHOICE_NAMES]
  const at = (schema['enum'] as readonly JsonValue[]).indexOf(choice)
  const name = Array.isArray(names) ? names[at] : undefined
  return typeof name === 'string' && name !== '' ? name : choice
}

/** Fields whose name says that they take a secret, which a server must not ask for in a form. */
export const secretFieldsIn = (schema: JsonObject | undefined): readonly string[] =>
  questionFieldsIn(schema).flatMap(({ name, schema: { title } }) =>
    SECRET_NAME.test(`${name} ${typeof title === 'string' ? title : ''}`) ? [name] : [],
  )

const SECRET_NAME =
  /pass(?:word|phrase|code)|\bpin\b|secret|token|credential|api[ _-]?key|private[ _-]?key|\bcvv\b|\bcvc\b|card[ _-]?number/i

/** The answer as people may read it: what was typed into a field for a secret is not kept. */
export function withoutSecrets<T extends GivenValues>(question: TaskQuestion | undefined, answer: T): T {
  const secret = new Set(secretFieldsIn(question?.schema))
  if (!question || secret.size === 0 || answer.textValue === undefined) return answer
  if (!isAnsweredWithFields(question)) return { ...answer, textValue: HIDDEN }
  const content = readContent(question.schema, answer)
  if (typeof content === 'string') return { ...answer, textValue: HIDDEN }
  const shown = Object.entries(content).map(([name, value]) => [name, secret.has(name) ? HIDDEN : value])
  return { ...answer, textValue: JSON.stringify(Object.fromEntries(shown)) }
}

const HIDDEN = '***'
