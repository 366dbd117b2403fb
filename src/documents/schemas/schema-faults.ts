/** What makes a JSON Schema invalid. */
import type { ErrorObject } from 'ajv'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { measureSchema } from '../../tools/check/schema-size.ts'
import { validate as metaSchema } from '../../tools/generated/meta-schema.js'
import { formatPointer } from '../text/pointer.ts'
import type { SchemaText } from './schemas.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'

export interface SchemaFault {
  /** Into the schema. */
  readonly pointer: string
  readonly message: string
}

export function schemaFaults(text: SchemaText): SchemaFault[] {
  const schema = text.value
  if (metaSchema(schema)) return [...localRefs(text), ...patterns(text), ...bounds(schema)]
  const first = new Map<string, ErrorObject>()
  for (const error of metaSchema.errors ?? []) {
    // An `enum` error lists the allowed words; the error of the other type adds nothing.
    const before = first.get(error.instancePath)
    if (before === undefined || (before.keyword !== 'enum' && error.keyword === 'enum'))
      first.set(error.instancePath, error)
  }
  return [...first.values()]
    .filter(isOutermost(first))
    .map((error) => ({ pointer: error.instancePath, message: describeSchemaError(schema, error) }))
}

/** An error in a member of a `type` list is reported at the list. */
const isOutermost =
  (all: ReadonlyMap<string, ErrorObject>) =>
  ({ instancePath }: ErrorObject): boolean =>
    !(/\/type\/\d+$/.test(instancePath) && all.has(instancePath.slice(0, instancePath.lastIndexOf('/'))))

function describeSchemaError(schema: JsonObject | boolean, error: ErrorObject): string {
  const found = valueAt(schema, error.instancePath)
  const name = formatPointer(error.instancePath) || 'The schema'
  if (error.keyword === 'enum') {
    const allowed = (error.params['allowedValues'] as JsonValue[]).map(String)
    const near = typeof found === 'string' ? nearestCandidate(found, allowed) : undefined
    return `${name} must be one of ${allowed.join(', ')}, but is ${JSON.stringify(found)}.${didYouMean(near)}`
  }
  return `${name} ${error.message ?? 'is not valid'}.`
}

/** Exceeds the limits of the runtime, which would refuse the schema. `schema/ref-loop` checks references. */
function bounds(schema: JsonObject | boolean): SchemaFault[] {
  const size = measureSchema(schema)
  if (!('problem' in size) || size.about !== 'size') return []
  return [{ pointer: '', message: `No run can use this schema: ${size.problem}.` }]
}

/** `#/…` references that lead nowhere. */
function localRefs(schema: SchemaText): SchemaFault[] {
  return schema
    .uses('$ref')
    .flatMap(({ pointer, value }) =>
      typeof value === 'string' &&
      /^#(?:\/|$)/.test(value) &&
      valueAt(schema.value, decodeURI(value.slice(1))) === undefined
        ? [{ pointer, message: `"${value}" leads nowhere in this schema.` }]
        : [],
    )
}

function patterns(schema: SchemaText): SchemaFault[] {
  return schema.uses('pattern').flatMap(({ pointer, value }) => {
    try {
      // JSON Schema patterns are read with the `u` flag.
      if (typeof value === 'string') void new RegExp(value, 'u')
      return []
    } catch (error) {
      return [
        {
          pointer,
          message: `This pattern cannot be read: ${(error as Error).message.replace(/^Invalid regular expression: /, '')}.`,
        },
      ]
    }
  })
}
