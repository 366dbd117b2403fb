/** JSON Schemas by value: files that `$ref` names are carried in `$defs`. Source: bundles, section 1. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts'
import { readValues } from '../documents/read.ts'
import type { SchemaSpec } from '../spec/document.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { readFileMember } from './file.ts'
import { report, type Spot, type Work } from './work.ts'

/** Keywords whose members are values, not schemas. */
const VALUES = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose members are named schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

/** The schema that a spec names or holds; undefined where it cannot be read, which is then reported. */
export function inlineSchema(work: Work, spec: SchemaSpec, at: Spot): JsonSchema | undefined {
  if (spec.inline !== undefined) return bundleSchema(work, spec.inline, undefined, at)
  return inlineSchemaFile(work, spec.ref, { document: at.document, pointer: `${at.pointer}/ref` }, spec.version)
}

/** The schema in a file of the bundle. */
export function inlineSchemaFile(work: Work, ref: string, at: Spot, version?: string | number): JsonSchema | undefined {
  const read = readSchemaFile(work, ref, at, version)
  return read && bundleSchema(work, read.schema, read.path, at)
}

function readSchemaFile(
  work: Work,
  ref: string,
  at: Spot,
  version?: string | number,
  beside?: string,
): { readonly schema: JsonSchema; readonly path: string } | undefined {
  const file = readFileMember(work, 'schema', 'schema/ref-missing', ref, at, version, beside)
  if (!file) return undefined
  const { values, findings } = readValues(file)
  const [schema] = values
  const fault = findings.find((each) => each.severity === 'error')
  if (fault || schema === undefined)
    return report(work, 'schema/ref-missing', at, `${file.path} cannot be read: ${fault?.message ?? 'it is empty.'}`)
  if (!isJsonObject(schema) && typeof schema !== 'boolean')
    return report(work, 'schema/invalid', at, `${file.path} is no JSON Schema: a mapping belongs there.`)
  return { schema, path: file.path }
}

/**
 * A schema with every file it reaches. Files are numbered in the order in which a reader of the canonical text meets them,
 * so that their names do not matter.
 * @param path of the file in which the schema stands; undefined for one inside a document
 */
function bundleSchema(work: Work, root: JsonSchema, path: string | undefined, at: Spot): JsonSchema | undefined {
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
    const remote = /^[a-z][a-z0-9+.-]*:/i.test(file)
    if (remote)
      report(
        work,
        'schema/remote-ref',
        at,
        `\`$ref\` names ${file}; a schema refers only to itself and to files of the bundle.`,
      )
    const read = remote ? undefined : readSchemaFile(work, file, at, undefined, from.path)
    if (!read) failed = true
    return read && carry(read.path, read.schema)
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
