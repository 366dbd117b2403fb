/**
 * Reads what an MCP server asks a person ("elicitation"), within bounds: forms of the fields that the protocol allows, and addresses.
 * Source: docs/design/foreign-peers.md#questions-of-servers
 */
import { cutText } from '../../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { CHOICE_NAMES, type ServerAnswer, type ServerQuestion } from '../../spec/server-question.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

/** What svc takes of a question. A longer message is cut; everything else beyond a bound refuses the question. */
const MOST = {
  /** Of one call. */
  questions: 8,
  fields: 30,
  choices: 100,
  /** Characters. */
  message: 2000,
  name: 100,
  title: 200,
  description: 500,
  text: 500,
  address: 2000,
  state: 64 * 1024,
} as const

/** What a server is told whose question belongs to no call. Nothing in the protocol relates a question to a call but its stream. */
export const UNKNOWN_ASKER =
  'svc cannot tell which call asks: a question names none, and there is not just one open. Ask on the stream of the call; over standard streams, while no other call is open.'

/** Thrown for a question that cannot be passed on; the message continues "the server". */
export class QuestionProblem extends Error {
  override readonly name = 'QuestionProblem'
}

/** @throws QuestionProblem */
export function readInputRequired(result: JsonObject): {
  readonly questions: readonly ServerQuestion[]
  readonly state?: string
} {
  const requestState = result['requestState'] ?? undefined
  const inputRequests = result['inputRequests'] ?? {}
  if (!isJsonObject(inputRequests)) throw new QuestionProblem('names its questions in no object')
  const requests = Object.entries(inputRequests)
  if (requests.length > MOST.questions)
    throw new QuestionProblem(`asks ${requests.length} questions at once, and may ask ${MOST.questions}`)
  if (requestState !== undefined && typeof requestState !== 'string')
    throw new QuestionProblem('has a requestState that is no text')
  if (requestState !== undefined && requestState.length > MOST.state)
    throw new QuestionProblem(`has a requestState of more than ${MOST.state} characters`)
  if (requests.length === 0 && requestState === undefined)
    throw new QuestionProblem('wants an answer, and asks nothing')
  const questions = requests.map(([name, request]) => {
    const { method, params } = isJsonObject(request) ? request : {}
    if (method !== 'elicitation/create')
      throw new QuestionProblem(`asks for ${describeMethod(method)}, which svc gives no server`)
    return readQuestion(name, params)
  })
  return { questions, ...(requestState !== undefined && { state: requestState }) }
}

const describeMethod = (method: JsonValue | undefined): string =>
  typeof method === 'string' ? JSON.stringify(cutText(method, MOST.name).text) : 'something without a method'

/** Code of an error by which a server of revision 2025-11-25 wants a person to open addresses first. */
export const ADDRESS_REQUIRED = -32042

/** @throws QuestionProblem */
export function readRequiredAddresses(data: JsonValue | undefined): readonly ServerQuestion[] {
  const listed = isJsonObject(data) ? data['elicitations'] : undefined
  if (!Array.isArray(listed) || listed.length === 0 || listed.length > MOST.questions)
    throw new QuestionProblem(`names not 1 to ${MOST.questions} addresses that a person has to open`)
  return listed.map((each, at) => {
    const id = isJsonObject(each) ? each['elicitationId'] : undefined
    return readQuestion(typeof id === 'string' ? id : `${at + 1}`, isJsonObject(each) ? { ...each, mode: 'url' } : each)
  })
}

/** Asks for the questions of one open call, one after the other and up to a number. */
export function createAsker(
  ask: (question: ServerQuestion) => Promise<ServerAnswer>,
): (params: JsonValue) => Promise<ServerAnswer> {
  let asked = 0
  let last: Promise<unknown> = Promise.resolve()
  return (params) => {
    if (++asked > MOST.questions)
      return Promise.reject(new QuestionProblem(`asks more than ${MOST.questions} questions in one call`))
    const name = `${asked}`
    const answered = last.then(() => ask(readQuestion(name, params)))
    last = answered.catch(() => {})
    return answered
  }
}

/** @throws QuestionProblem */
export function readQuestion(name: string, params: JsonValue | undefined): ServerQuestion {
  if (name.length > MOST.name) throw new QuestionProblem(`has a question whose name is longer than ${MOST.name}`)
  if (!isJsonObject(params)) throw new QuestionProblem('asks without params')
  const { message, requestedSchema, url } = params
  const mode = params['mode'] ?? (typeof url === 'string' && !requestedSchema ? 'url' : 'form')
  if (typeof message !== 'string' || message.trim() === '') throw new QuestionProblem('asks without a message')
  const { text, cut } = cutText(message, MOST.message)
  const question = { name, message: cut === 0 ? text : `${text}…` }
  if (mode === 'url') return { ...question, url: readAddress(url) }
  if (mode !== 'form') throw new QuestionProblem(`asks in the mode ${describeMethod(mode)}, which svc does not know`)
  return { ...question, schema: readForm(requestedSchema) }
}

function readAddress(given: JsonValue | undefined): string {
  if (typeof given !== 'string' || given.length > MOST.address || parseUrl(given) === undefined)
    throw new QuestionProblem(`gives no address of at most ${MOST.address} characters`)
  const { protocol, username, password, href } = new URL(given)
  if (protocol !== 'https:' && protocol !== 'http:')
    throw new QuestionProblem(`gives an address of the scheme ${protocol}, and may give https`)
  if (username !== '' || password !== '')
    throw new QuestionProblem('gives an address with a user name, which could pass for its host')
  return href
}

function readForm(given: JsonValue | undefined): JsonObject {
  if (!isJsonObject(given)) throw new QuestionProblem('asks without a requestedSchema')
  const { type = 'object', properties = {}, required = [] } = given
  if (type !== 'object' || !isJsonObject(properties))
    throw new QuestionProblem('has a requestedSchema that is no object with properties')
  const names = Object.keys(properties)
  if (names.length > MOST.fields)
    throw new QuestionProblem(`asks for ${names.length} fields at once, and may ask for ${MOST.fields}`)
  const fields = names.map((name): [string, JsonObject] => {
    if (name === '' || name.length > MOST.name || name === '__proto__' || !name.isWellFormed())
      throw new QuestionProblem(`has a field whose name is not text of 1 to ${MOST.name} characters`)
    return [name, readField(name, properties[name])]
  })
  const needed = Array.isArray(required) ? names.filter((name) => required.includes(name)) : []
  return { type: 'object', properties: Object.fromEntries(fields), required: needed, additionalProperties: false }
}

function readField(name: string, nullable: JsonValue | undefined): JsonObject {
  const refuse = (why: string): never => {
    throw new QuestionProblem(`has the field ${JSON.stringify(name)}, which ${why}`)
  }
  if (!isJsonObject(nullable)) return refuse('has no schema')
  const given = withoutNull(nullable)
  const { format, items } = given
  if (format === 'password' || given['writeOnly'] === true)
    return refuse('takes a secret: a server may ask for one at an address only, never in a form')
  const about = {
    ...shortText('title', given['title'], MOST.title),
    ...shortText('description', given['description'], MOST.description),
  }
  const choices = readChoices(given)
  if (choices?.values.length === 0) return refuse('has no choice')
  if (choices && choices.values.length > MOST.choices) return refuse(`has more than ${MOST.choices} choices`)
  if (choices && choices.values.some((each) => each === '' || each.length > MOST.text))
    return refuse(`has a choice that is not text of 1 to ${MOST.text} characters`)
  const listType = isJsonObject(items) ? 'array' : null
  const type = given['type'] ?? (choices ? 'string' : listType)
  if (type === 'string' && choices) return { type, ...about, ...toEnum(choices), ...usual(given, 'string') }
  switch (type) {
    case 'string':
      return {
        type,
        ...about,
        ...(typeof format === 'string' && FORMATS.has(format) && { format }),
        ...range(given, 'minLength', 'maxLength', refuse),
        ...usual(given, 'string'),
      }
    case 'number':
    case 'integer':
      return { type, ...about, ...range(given, 'minimum', 'maximum', refuse), ...usual(given, 'number') }
    case 'boolean':
      return { type, ...about, ...usual(given, 'boolean') }
    case 'array': {
      const of = isJsonObject(items) ? readChoices(items) : undefined
      if (
        !of ||
        of.values.length === 0 ||
        of.values.length > MOST.choices ||
        of.values.some((each) => each.length > MOST.text)
      )
        return refuse(`is a list of something other than 1 to ${MOST.choices} choices`)
      const item: JsonObject = { type: 'string', ...toEnum(of) }
      const most = Math.min(Number(given['maxItems'] ?? Infinity), of.values.length)
      const bounds = range({ ...given, maxItems: most }, 'minItems', 'maxItems', refuse)
      return { type, ...about, items: item, uniqueItems: true, ...bounds }
    }
    default:
      return refuse('is neither a text, a number, a boolean nor a choice')
  }
}

const FORMATS = new Set(['email', 'uri', 'date', 'date-time'])

interface Choices {
  readonly values: readonly string[]
  readonly names: readonly string[]
}

/** A field that takes null, too, may be left out: the schema libraries of servers write it so. */
function withoutNull({ type, ...given }: JsonObject): JsonObject {
  const types = Array.isArray(type) ? type.filter((each) => each !== 'null') : [type]
  const field: JsonObject = { ...given, ...(types.length === 1 && types[0] !== undefined && { type: types[0] }) }
  const { anyOf, ...rest } = field
  if (!Array.isArray(anyOf)) return field
  const kept = anyOf.filter((each) => !isJsonObject(each) || each['type'] !== 'null')
  const [only] = kept
  return kept.length === 1 && isJsonObject(only) && !('const' in only) ? { ...rest, ...only } : { ...rest, anyOf: kept }
}

/** Choices in each form that a revision of the protocol has for them. */
function readChoices({ enum: values, enumNames, oneOf, anyOf }: JsonObject): Choices | undefined {
  const titled = [oneOf, anyOf].find((each) => Array.isArray(each))
  const listed = Array.isArray(values)
    ? values
        .map((each, at) => [each, Array.isArray(enumNames) ? enumNames[at] : undefined])
        .filter(([each]) => each !== null)
    : undefined
  const pairs = titled?.map((each) => (isJsonObject(each) ? [each['const'], each['title']] : [])) ?? listed
  if (!pairs || !pairs.every(([value]) => typeof value === 'string')) return undefined
  const unique = new Map(pairs.map(([value, name]) => [value as string, typeof name === 'string' ? name : '']))
  return { values: [...unique.keys()], names: [...unique.values()].map((each) => cutText(each, MOST.title).text) }
}

const toEnum = ({ values, names }: Choices): JsonObject => ({
  enum: [...values],
  ...(names.some((each) => each !== '') && { [CHOICE_NAMES]: [...names] }),
})

const shortText = (name: string, given: JsonValue | undefined, most: number): JsonObject =>
  typeof given === 'string' && given !== '' ? { [name]: cutText(given, most).text } : {}

/** The bounds of a field, as far as they are some. */
function range(given: JsonObject, from: string, to: string, refuse: (why: string) => never): JsonObject {
  const isCount = from !== 'minimum'
  const bounds = [from, to].flatMap((name) => {
    const bound = given[name]
    return typeof bound === 'number' && (!isCount || (Number.isInteger(bound) && bound >= 0)) ? [[name, bound]] : []
  })
  const { [from]: least = -Infinity, [to]: most = Infinity } = Object.fromEntries(bounds) as Record<string, number>
  return least > most ? refuse('has bounds between which nothing lies') : Object.fromEntries(bounds)
}

/** The value that the server proposes. */
const usual = ({ default: value }: JsonObject, type: 'string' | 'number' | 'boolean'): JsonObject =>
  typeof value === type && JSON.stringify(value).length <= MOST.text ? { default: value! } : {}
