/** Turns errors of schema validation into sentences for users. */
import type { ErrorObject } from 'ajv'
import type { InvalidPlace } from '../../base/failure.ts'
import { pointerTo } from '../../base/json/pointer.ts'

/** Keeps the first finding of each place. */
export function firstPerPlace(errors: readonly ErrorObject[] | null | undefined): InvalidPlace[] {
  const found = new Map<string, string>()
  for (const error of errors ?? []) {
    const path = placeOf(error)
    if (!found.has(path)) found.set(path, messageOf(error))
  }
  return [...found].map(([path, message]) => ({ path, message }))
}

function placeOf({ instancePath, params }: ErrorObject): string {
  const { missingProperty, additionalProperty } = params as Readonly<Record<string, string | undefined>>
  const name = missingProperty ?? additionalProperty
  return name === undefined ? instancePath : pointerTo(instancePath, name)
}

interface Schema {
  readonly type?: string | readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly 'x-message'?: string
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'must be an object',
  array: 'must be an array',
  string: 'must be a string',
  boolean: 'must be true or false',
  number: 'must be a number',
}

function messageOf({ keyword, params, parentSchema }: ErrorObject): string {
  const schema = parentSchema as Schema
  const [type = ''] = [schema.type].flat()
  if (keyword === 'required') return 'is required'
  if (keyword === 'additionalProperties') return 'is not a known property'
  if (type === 'integer') return integer(schema)
  if (keyword === 'type') return TYPES[type] ?? `must be ${String(params['type'])}`
  if (schema['x-message'] !== undefined) return schema['x-message']
  if (keyword === 'minLength' || keyword === 'maxLength') return length(schema)
  if (keyword === 'minItems')
    return `must have at least ${String(params['limit'])} ${params['limit'] === 1 ? 'entry' : 'entries'}`
  if (keyword === 'maxItems' || keyword === 'maxProperties')
    return `must have at most ${String(params['limit'])} entries`
  if (keyword === 'const') return `must be ${String(params['allowedValue'])}`
  if (keyword === 'enum') return `must be ${alternatives.format(params['allowedValues'] as readonly string[])}`
  if (keyword === 'format') return 'must be a UUID'
  throw new Error(`The schema keyword ${keyword} has no sentence.`)
}

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' })

const integer = ({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: Schema): string =>
  maximum === Number.MAX_SAFE_INTEGER
    ? `must be an integer from ${minimum}`
    : `must be an integer from ${minimum} to ${maximum}`

const length = ({ minLength = 0, maxLength }: Schema): string =>
  minLength > 0 ? `must have ${minLength} to ${maxLength} characters` : `must have at most ${maxLength} characters`
