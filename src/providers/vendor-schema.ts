/** JSON Schemas with other names of properties, or one level deeper, that accept the same values under these names. */
import { digestOf } from '../base/digest.ts'
import { cutText } from '../base/text/cut-text.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { pointerTo, segmentsOf } from '../base/json/pointer.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { NAMED_SCHEMAS } from '../spec/vendor-tool-limits.ts'

/** Names that differ on the wire. Each function returns every other name unchanged. */
export interface NameMapping {
  readonly size: number
  readonly toWire: (name: string) => string
  readonly toOwn: (name: string) => string
}

/**
 * Gives each name that is not allowed another one. It ends in a part of the digest of the name, so that no name of an author, and no key
 * that a model makes up, is taken for it.
 */
export function mapNames(names: readonly string[], allowed: RegExp | undefined): NameMapping {
  const taken = new Set(names)
  const [wire, own] = [new Map<string, string>(), new Map<string, string>()]
  for (const name of taken) {
    if (allowed?.test(name) ?? true) continue
    const digest = digestOf(name).slice('sha256:'.length)
    let length = 4
    let mapped = ''
    do mapped = `${plainName(name)}_${digest.slice(0, length++)}`
    while (taken.has(mapped) || own.has(mapped))
    wire.set(name, mapped)
    own.set(mapped, name)
  }
  return { size: wire.size, toWire: (name) => wire.get(name) ?? name, toOwn: (name) => own.get(name) ?? name }
}

/** Letters, digits and single underscores, a letter first: every vendor allows as much. */
const plainName = (name: string): string =>
  cutText(name.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^[_0-9]+|_+$/g, ''), 40).text || 'name'

/** A value in which objects have the other names. */
export function renameKeys(value: JsonValue, rename: (name: string) => string): JsonValue {
  if (Array.isArray(value)) return value.map((each) => renameKeys(each, rename))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [rename(key), renameKeys(each, rename)]))
}

/** The schema of values with the other names. */
export function renameProperties(schema: JsonSchema, { size, toWire }: NameMapping): JsonSchema {
  if (size === 0) return schema
  return mapSchema(schema, toWire, (ref) => renameReference(ref, toWire)) as JsonSchema
}

/** The one property of a wrapped schema. */
export const WRAPPER = 'input'

/**
 * The schema of an object whose only property has the values of another schema, so that no keyword of that one stands at the root.
 * Definitions stay at the root, where vendors look for them.
 */
export function wrapSchema(schema: JsonSchema): JsonSchema {
  if (!isJsonObject(schema)) return schema
  const { $schema: _, $defs, definitions, ...rest } = mapSchema(schema, (name) => name, wrapReference) as JsonObject
  return {
    type: 'object',
    properties: { [WRAPPER]: { type: 'object', ...rest } },
    required: [WRAPPER],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  }
}

const wrapReference = (ref: string): string =>
  !ref.startsWith('#') || /^#\/(?:\$defs|definitions)\//.test(ref) || (ref.length > 1 && ref[1] !== '/')
    ? ref
    : `#/properties/${WRAPPER}${ref.slice(1)}`

/** Visits every schema within a schema; values in it, such as those of `enum`, get the other names. */
function mapSchema(
  schema: JsonValue,
  rename: (name: string) => string,
  mapReference: (ref: string) => string,
): JsonValue {
  const mapAll = (value: JsonValue): JsonValue => mapSchema(value, rename, mapReference)
  if (Array.isArray(schema)) return schema.map(mapAll)
  if (!isJsonObject(schema)) return schema
  const mapMembers = (members: JsonObject, ofName: (name: string) => string): JsonObject =>
    Object.fromEntries(Object.entries(members).map(([name, each]) => [ofName(name), mapAll(each)]))
  const mapKeyword = (keyword: string, value: JsonValue): JsonValue => {
    if (NAMING.has(keyword)) return renameNames(value, rename, mapAll)
    if (VALUES.has(keyword)) return renameKeys(value, rename)
    if (keyword === '$ref' || keyword === '$dynamicRef') return typeof value === 'string' ? mapReference(value) : value
    if (keyword === 'discriminator' && isJsonObject(value) && typeof value['propertyName'] === 'string')
      return { ...value, propertyName: rename(value['propertyName']) }
    if (NAMED_SCHEMAS.has(keyword) && isJsonObject(value)) return mapMembers(value, (name) => name)
    return mapAll(value)
  }
  return Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value)]))
}

/** Keywords that name properties: by their keys, or in lists of names. */
const NAMING: ReadonlySet<string> = new Set([
  'properties',
  'required',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
])

const VALUES: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples'])

function renameNames(
  value: JsonValue,
  rename: (name: string) => string,
  mapAll: (schema: JsonValue) => JsonValue,
): JsonValue {
  if (Array.isArray(value)) return value.map((each) => (typeof each === 'string' ? rename(each) : each))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      rename(name),
      Array.isArray(each) ? renameNames(each, rename, mapAll) : mapAll(each),
    ]),
  )
}

/** A local reference that goes through a property. */
function renameReference(ref: string, rename: (name: string) => string): string {
  if (!ref.startsWith('#/')) return ref
  let names: 'none' | 'properties' | 'others' = 'none'
  const pointer = segmentsOf(decodeReference(ref.slice(1))).reduce<string>((above, segment) => {
    const name = names === 'properties' ? rename(segment) : segment
    const named = NAMED_SCHEMAS.has(segment) ? 'others' : 'none'
    const below = NAMING.has(segment) ? 'properties' : named
    names = names === 'none' ? below : 'none'
    return pointerTo(above, name)
  }, '')
  return `#${pointer.split('/').map(encodeURIComponent).join('/').replaceAll('%24', '$').replaceAll('%7E', '~')}`
}

function decodeReference(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
