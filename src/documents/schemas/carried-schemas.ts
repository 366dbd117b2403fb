/** JSON Schemas by value: files that `$ref` names are carried in `$defs`. Source: bundles, section 1. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'

/** Keywords whose members are values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose members are named schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

export interface SchemaFile {
  readonly schema: JsonSchema
  readonly path: string
}

/**
 * A schema with every file it reaches. Files are numbered in the order in which a reader of the canonical text meets them,
 * so that their names do not matter. Undefined where one of them cannot be read.
 * @param path of the file in which the schema stands; undefined for one inside a document
 * @param read what a `$ref` without its fragment names, from the file in which it stands
 */
export function carrySchemas(
  root: JsonSchema,
  path: string | undefined,
  read: (file: string, from: string | undefined) => SchemaFile | undefined,
): JsonSchema | undefined {
  if (typeof root === 'boolean') return root
  const whole: Home = { path, pointer: '#' }
  const homes = new Map<string, Home>(path === undefined ? [] : [[path, whole]])
  const taken = isJsonObject(root['$defs']) ? root['$defs'] : {}
  const carried: Record<string, JsonValue> = {}
  let failed = false

  const carry = (file: string, schema: JsonSchema): Home => {
    const known = homes.get(file)
    if (known) return known
    let number = Object.keys(carried).length + 1
    while (Object.hasOwn(taken, `file${number}`) || Object.hasOwn(carried, `file${number}`)) number++
    const name = `file${number}`
    const home: Home = { path: file, pointer: `#/$defs/${name}` }
    homes.set(file, home)
    carried[name] = true
    carried[name] = typeof schema === 'boolean' ? schema : copy(withoutAddress(schema), home)
    return home
  }

  const rewrite = (ref: string, from: Home): string => {
    const [file, fragment] = splitRef(ref)
    const home = file === '' ? from : reach(file, from)
    // An anchor is found wherever it stands.
    return home && (fragment === '' || fragment.startsWith('/')) ? `${home.pointer}${fragment}` : `#${fragment}`
  }

  const reach = (file: string, from: Home): Home | undefined => {
    const found = read(file, from.path)
    if (!found) failed = true
    return found && carry(found.path, found.schema)
  }

  const copy = (schema: JsonObject, home: Home): JsonObject =>
    mapMembers(schema, (keyword, value) => {
      if (keyword === '$ref' && typeof value === 'string') return rewrite(value, home)
      if (VALUES.has(keyword)) return value
      if (NAMED.has(keyword) && isJsonObject(value)) return mapMembers(value, (_, each) => copyValue(each, home))
      return copyValue(value, home)
    })
  const copyValue = (value: JsonValue, home: Home): JsonValue => {
    if (Array.isArray(value)) return value.map((each) => copyValue(each, home))
    return isJsonObject(value) ? copy(value, home) : value
  }

  const result = copy(path === undefined ? root : withoutId(root), whole)
  if (failed) return undefined
  if (Object.keys(carried).length === 0) return result
  return { ...result, $defs: { ...(isJsonObject(result['$defs']) ? result['$defs'] : {}), ...carried } }
}

/** Where a schema stands: in which file, and under which pointer of the result. */
interface Home {
  readonly path: string | undefined
  readonly pointer: string
}

/** Members are visited by name, so that their order means nothing, and kept in the author's order, which a model reads. */
function mapMembers(value: JsonObject, map: (key: string, value: JsonValue) => JsonValue): JsonObject {
  const mapped = new Map(
    Object.keys(value)
      .sort()
      .map((key) => [key, map(key, value[key]!)]),
  )
  return Object.fromEntries(Object.keys(value).map((key) => [key, mapped.get(key)!]))
}

/** A file's own address means nothing once it is a value, and would lead its references astray. */
function withoutId(schema: JsonObject): JsonObject {
  const { $id: _, ...rest } = schema
  return rest
}

/** A schema inside another names no dialect of its own. */
function withoutAddress(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = withoutId(schema)
  return rest
}

const splitRef = (ref: string): readonly [file: string, fragment: string] => {
  const at = ref.indexOf('#')
  return at === -1 ? [ref, ''] : [ref.slice(0, at), ref.slice(at + 1)]
}
