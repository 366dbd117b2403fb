/** JSON Schemas of what commands print with `--json`, from the shapes in the table of commands. */
import { parse } from 'yaml'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { CommandSpec } from '../shell/command.ts'

/** Schemas of the HTTP interface, by name. */
type Components = Readonly<Record<string, JsonObject>>

/** @param text of the OpenAPI document */
export const readComponents = (text: string): Components =>
  (parse(text) as { components: { schemas: Components } }).components.schemas

/** Bodies of the HTTP interface that commands print as they are, by the words of the table. */
const BODIES: Readonly<Record<string, string>> = {
  'body of GET /v1/runs/{runId}': 'RunStatus',
  'body of GET /v1/runs/{runId}/conversation': 'Conversation',
  'body of GET /v1/agents/{agentId}/sessions': 'SessionList',
}

/** Names whose values have one type wherever they stand. */
const TYPES: readonly (readonly [RegExp, JsonObject])[] = [
  [
    /^(?:ok|already|yanked|breaking|apiCompletable|allowUploads|active|exposeTimeline|lateBound|deployed\?)$/,
    { type: 'boolean' },
  ],
  [
    /^(?:total|errors|warnings|fixable|unchanged|passed|failed|size|bytes|sizeBytes|totalTokensUsed|durationMs|depth|line|column|offset|need|have)$/,
    { type: 'integer' },
  ],
  [
    /^(?:rule|message|pointer|docs|digest|closureDigest|runId|sessionId|agentId|triggerId|keyId|userTaskId|subject|term|text|secret|prefix)$/,
    { type: 'string' },
  ],
]

/** The schema of a command's answer; undefined for one that prints text in every mode. */
export function outputSchema(
  spec: CommandSpec,
  all: readonly CommandSpec[],
  components: Components,
): JsonObject | undefined {
  if (spec.json === undefined) return undefined
  const title = `svc ${spec.path} --json`
  const head = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title,
    description: `${spec.summary}: ${spec.json}`,
  }
  return { ...head, ...shapeOf(spec.json, all, components) }
}

function shapeOf(words: string, all: readonly CommandSpec[], components: Components): JsonObject {
  const as = /^as svc ([a-z ]+)$/.exec(words)
  const other = as && all.find(({ path }) => path === as[1])
  if (other?.json !== undefined) return shapeOf(other.json, all, components)
  const body = Object.keys(BODIES).find((each) => words === each || words.startsWith(`${each};`))
  if (body !== undefined) return withDefinitions(BODIES[body]!, components)
  const shapes = readShapes(words)
  if (shapes.length === 1 && words.startsWith('{')) return shapes[0]!
  // Words between shapes tell when which of them is printed; an event may be any object.
  const events = words.startsWith('a line for each event,') ? [{ type: 'object' }] : []
  return shapes.length === 0 ? {} : { anyOf: [...shapes, ...events] }
}

/** A schema of the HTTP interface with those that it names, as definitions of its own. */
function withDefinitions(name: string, components: Components): JsonObject {
  const found = new Map<string, JsonObject>()
  const visit = (each: string): void => {
    if (found.has(each)) return
    const text = JSON.stringify(components[each]).replaceAll('#/components/schemas/', '#/$defs/')
    found.set(each, JSON.parse(text, withoutExtensions) as JsonObject)
    for (const [, inner] of text.matchAll(/"#\/\$defs\/([^"]+)"/g)) visit(inner!)
  }
  visit(name)
  return { $ref: `#/$defs/${name}`, $defs: Object.fromEntries(found) }
}

/** A validator refuses keywords that it does not know: words of an open list are examples of its values. */
function withoutExtensions(_: string, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value
  const own = Object.entries(value).filter(([key]) => !key.startsWith('x-'))
  const { 'x-extensible-enum': examples } = value
  return { ...Object.fromEntries(own), ...(examples !== undefined && { examples }) }
}

/** Every `{…}` that stands in a text. */
function readShapes(text: string): JsonObject[] {
  const shapes: JsonObject[] = []
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at)) {
    const read = createReader(text, at)
    shapes.push(read.value())
    at = read.end()
  }
  return shapes
}

function createReader(text: string, start: number) {
  let at = start
  const take = (token: string): boolean => {
    if (!text.startsWith(token, at)) return false
    at += token.length
    return true
  }
  const word = (): string => {
    const [found = ''] = /^[\w$-]+|^"[^"]*"/.exec(text.slice(at)) ?? []
    at += found.length
    return found
  }

  function value(name = ''): JsonObject {
    if (take('{')) return members()
    if (take('[')) {
      const items = value()
      take(']')
      return { type: 'array', items }
    }
    const first = word()
    if (!first.startsWith('"')) return typeOf(name === '' ? '' : first)
    const choices = [JSON.parse(first) as JsonValue]
    while (take('|')) choices.push(JSON.parse(word()) as JsonValue)
    return choices.length === 1 ? { const: choices[0]! } : { enum: choices }
  }

  function members(): JsonObject {
    const properties: Record<string, JsonObject> = {}
    const required: string[] = []
    while (at < text.length && !take('}')) {
      if (take(',') || take('…')) continue
      const name = word().replaceAll('"', '')
      if (name === '') throw new Error(`The shape ${text} cannot be read at ${at}.`)
      if (!take('?')) required.push(name)
      properties[name] = take(':') ? value(name) : typeOf(name)
    }
    return { type: 'object', properties, ...(required.length > 0 && { required }) }
  }

  return { value, end: () => at }
}

const typeOf = (name: string): JsonObject => TYPES.find(([names]) => names.test(name))?.[1] ?? {}
