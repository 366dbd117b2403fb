/** Bundles JSON Schemas: referenced files are copied into `$defs`. Source: docs/design/bundles-and-authority.md#references */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { compareText } from '../../base/values/compare-text.ts'

/** Keywords whose members are values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose members are named schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

export interface SchemaFile {
  readonly schema: JsonSchema
  readonly path: string
}

/**
 * A schema with every file that it references. Files are numbered in the order of their first use in the canonical text, so that
 * their names do not matter. Undefined if one of them cannot be read.
 * @param path of the file that contains the schema; undefined for one inside a document
 * @param read reads the file of a `$ref`, relative to the file that contains it
 */
export function carrySchemas(
  root: JsonSchema,
  path: string | undefined,
  read: (file: string, from: string | undefined) => SchemaFile | undefined,
): JsonSchema | undefined {
  if (typeof root === 'boolean') return root
  const whole: SchemaPlace = { path, pointer: '#' }
  const homes = new Map<string, SchemaPlace>(path === undefined ? [] : [[path, whole]])
  const taken = isJsonObject(root['$defs']) ? root['$defs'] : {}
  const carried: Record<string, JsonValue> = {}
  let failed = false

  const carry = (file: string, schema: JsonSchema): SchemaPlace => {
    const known = homes.get(file)
    if (known) return known
    let number = Object.keys(carried).length + 1
    while (Object.hasOwn(taken, `file${number}`) || Object.hasOwn(carried, `file${number}`)) number++
    const name = `file${number}`
    const home: SchemaPlace = { path: file, pointer: `#/$defs/${name}` }
    homes.set(file, home)
    carried[name] = true
    carried[name] = typeof schema === 'boolean' ? schema : copy(withoutIdAndDialect(schema), home)
    return home
  }

  const rewrite = (ref: string, from: SchemaPlace): string => {
    const [file, fragment] = splitRef(ref)
    const home = file === '' ? from : reach(file, from)
    // An anchor may be anywhere in the schema.
    return home && (fragment === '' || fragment.startsWith('/')) ? `${home.pointer}${fragment}` : `#${fragment}`
  }

  const reach = (file: string, from: SchemaPlace): SchemaPlace | undefined => {
    const found = read(file, from.path)
    if (!found) failed = true
    return found && carry(found.path, found.schema)
  }

  const copy = (schema: JsonObject, home: SchemaPlace): JsonObject =>
    mapMembers(schema, (keyword, value) => {
      if (keyword === '$ref' && typeof value === 'string') return rewrite(value, home)
      if (VALUES.has(keyword)) return value
      if (NAMED.has(keyword) && isJsonObject(value)) return mapMembers(value, (_, each) => copyValue(each, home))
      return copyValue(value, home)
    })
  const copyValue = (value: JsonValue, home: SchemaPlace): JsonValue => {
    if (Array.isArray(value)) return value.map((each) => copyValue(each, home))
    return isJsonObject(value) ? copy(value, home) : value
  }

  const result = copy(path === undefined ? root : withoutId(root), whole)
  if (failed) return undefined
  if (Object.keys(carried).length === 0) return result
  return { ...result, $defs: { ...(isJsonObject(result['$defs']) ? result['$defs'] : {}), ...carried } }
}

/** The place of a schema: its file, and its pointer in the result. */
interface SchemaPlace {
  readonly path: string | undefined
  readonly pointer: string
}

/** Visits members by name, so that their order has no effect on numbers, but keeps the author's order, which the model reads. */
function mapMembers(value: JsonObject, map: (key: string, value: JsonValue) => JsonValue): JsonObject {
  const mapped = { ...value }
  for (const [key, each] of Object.entries(value).toSorted(([a], [b]) => compareText(a, b)))
    mapped[key] = map(key, each)
  return mapped
}

/** Removes `$id`: it would change how references of the copied file resolve. */
function withoutId(schema: JsonObject): JsonObject {
  const { $id: _, ...rest } = schema
  return rest
}

/** Removes `$schema` too, which an embedded schema does not have. */
function withoutIdAndDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = withoutId(schema)
  return rest
}

const splitRef = (ref: string): readonly [file: string, fragment: string] => {
  const at = ref.indexOf('#')
  return at === -1 ? [ref, ''] : [ref.slice(0, at), ref.slice(at + 1)]
}
