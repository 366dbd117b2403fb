/**
 * Makes the most of schemas of MCP servers that cannot be compiled as they are: keywords that no check can use are dropped, each with
 * its place, and the rest is checked. A check may become weaker by that, never stricter.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import { resolveReference, valueAt } from '../../base/json/resolve-pointer.ts'
import { checkForeignSchema } from './check.ts'
import { CpuTimeExceeded } from './cpu-time.ts'
import { findInvalidKeyword, isKnownDialect } from './schema-compiler.ts'

/** A keyword of a schema that is not checked. */
export interface UncheckedKeyword {
  /** JSON pointer into the schema; empty for the whole of it. */
  readonly pointer: string
  /** Continues a sentence about the place: "is not checked: …". */
  readonly why: string
}

export interface RepairedSchema {
  /** The schema as a model may get it: whole, but for keywords that vendors refuse too. */
  readonly shown: JsonObject
  /** The part of it that is checked. */
  readonly checked: JsonObject
  readonly unchecked: readonly UncheckedKeyword[]
}

/** Each round drops one keyword. A schema with more faults is not checked. */
const MAX_ROUNDS = 50

const ANY_OBJECT: JsonObject = { type: 'object' }

/** Returns the schema itself where nothing is wrong with it. */
export async function repairSchema(schema: JsonObject): Promise<RepairedSchema> {
  const problem = await checkForeignSchema(schema)
  if (problem === undefined) return { shown: schema, checked: schema, unchecked: [] }
  const unchecked: UncheckedKeyword[] = []
  const shown = dropWithinTime(structuredClone(schema), unchecked)
  const checked = shown && dropUncheckable(structuredClone(shown), unchecked)
  const left = checked === undefined ? problem : await checkForeignSchema(checked)
  if (left === undefined) return { shown: shown!, checked: checked!, unchecked }
  // The schema is too large, or has a fault without a place.
  return { shown: shown ?? ANY_OBJECT, checked: ANY_OBJECT, unchecked: [{ pointer: '', why: left }] }
}

function dropWithinTime(schema: JsonObject, unchecked: UncheckedKeyword[]): JsonObject | undefined {
  try {
    return dropInvalid(schema, unchecked)
  } catch (error) {
    if (error instanceof CpuTimeExceeded) return undefined
    throw error
  }
}

/** Drops what the meta-schema refuses, and references to nothing. Undefined for more faults than rounds. */
function dropInvalid(schema: JsonObject, unchecked: UncheckedKeyword[]): JsonObject | undefined {
  readOlderDraft(schema, unchecked)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = findInvalidKeyword(schema)
    if (found === undefined) {
      for (const { pointer, node } of nodesOf(schema)) {
        const { $ref: ref } = node
        if (typeof ref === 'string' && ref.startsWith('#/') && resolveReference(schema, ref) === undefined)
          drop(schema, pointerTo(pointer, '$ref'), `it leads to nothing (${ref})`, unchecked)
      }
      return schema
    }
    if (found.pointer === '') return undefined
    drop(schema, found.pointer, `it ${found.message}`, unchecked)
  }
  return undefined
}

/** What drafts before 6 write otherwise. */
function readOlderDraft(schema: JsonObject, unchecked: UncheckedKeyword[]): void {
  const { $schema: dialect } = schema
  if (dialect !== undefined && !isKnownDialect(dialect)) {
    delete schema['$schema']
    if (typeof dialect !== 'string' || !/draft-0[34]/.test(dialect))
      unchecked.push({ pointer: '/$schema', why: 'it names a dialect that is not known' })
  }
  for (const { node } of nodesOf(schema))
    for (const [exclusive, bound] of [
      ['exclusiveMinimum', 'minimum'],
      ['exclusiveMaximum', 'maximum'],
    ] as const) {
      if (typeof node[exclusive] !== 'boolean') continue
      const isExclusive = node[exclusive] && typeof node[bound] === 'number'
      delete node[exclusive]
      if (!isExclusive) continue
      node[exclusive] = node[bound]!
      delete node[bound]
    }
}

/** Drops what only the compiler refuses. */
function dropUncheckable(schema: JsonObject, unchecked: UncheckedKeyword[]): JsonObject {
  for (const { pointer, node } of nodesOf(schema)) {
    const { pattern, nullable, patternProperties } = node
    if (typeof pattern === 'string') {
      const readable = readablePattern(pattern)
      if (readable === undefined)
        drop(schema, pointerTo(pointer, 'pattern'), `${JSON.stringify(pattern)} is no pattern of JavaScript`, unchecked)
      else node['pattern'] = readable
    }
    if (isJsonObject(patternProperties) && Object.keys(patternProperties).some((each) => !isPattern(each)))
      drop(schema, pointerTo(pointer, 'patternProperties'), 'it has no pattern of JavaScript', unchecked)
    // Of OpenAPI, where it says nothing without a type.
    if (nullable !== undefined && node['type'] === undefined) delete node['nullable']
  }
  return schema
}

/** The pattern, or one that means the same and is legal with the flag `u`; undefined where there is none. */
function readablePattern(pattern: string): string | undefined {
  if (isPattern(pattern)) return pattern
  const plain = pattern.replaceAll(/\\(.)/gsu, (escape, char: string) =>
    /[\dA-Za-z^$\\.*+?()[\]{}|/-]/.test(char) ? escape : char,
  )
  return isPattern(plain) ? plain : undefined
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Keywords whose members or elements are schemas. */
const OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] // oxfmt-ignore
const OF_ONE_SCHEMA = ['not', 'if', 'then', 'else', 'items', 'contains', 'additionalProperties', 'propertyNames', 'unevaluatedItems', 'unevaluatedProperties'] // oxfmt-ignore

/** Every part of a schema that is a schema, with its place. */
function* nodesOf(
  schema: JsonValue | undefined,
  pointer = '',
): Generator<{ readonly pointer: string; readonly node: JsonObject }> {
  if (!isJsonObject(schema)) return
  yield { pointer, node: schema }
  for (const key of OF_ONE_SCHEMA) yield* nodesOf(schema[key], pointerTo(pointer, key))
  for (const key of [...OF_SCHEMAS, 'items']) {
    const group = schema[key]
    if (typeof group !== 'object' || group === null || (key === 'items' && !Array.isArray(group))) continue
    for (const [name, each] of Object.entries(group)) yield* nodesOf(each, pointerTo(pointerTo(pointer, key), name))
  }
}

/** Keywords below which a weaker schema makes the check stricter. */
const REVERSING: ReadonlySet<string> = new Set(['not', 'oneOf', 'if', 'contains'])
/** Keywords whose members are named by the author. */
const NAMED: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
])

/** Drops the keyword at a place, and others that would refuse more without it. */
function drop(schema: JsonObject, pointer: string, why: string, unchecked: UncheckedKeyword[]): void {
  const path = keywordPath(schema, pointer)
  const place = path.reduce<string>(pointerTo, '')
  const key = path.at(-1)!
  const parent = valueAt(schema, path.slice(0, -1).reduce<string>(pointerTo, ''))
  if (!isJsonObject(parent)) return
  unchecked.push({ pointer: place, why })
  // A member that is no schema allows anything.
  if (isMember(path)) return void (parent[key] = true)
  delete parent[key]
  if (key === 'if') ['then', 'else'].forEach((each) => delete parent[each])
  if (key !== 'properties' && key !== 'patternProperties' && key !== '$ref') return
  delete parent['additionalProperties']
  for (const { node } of nodesOf(schema)) {
    delete node['unevaluatedProperties']
    delete node['unevaluatedItems']
  }
}

/** The path of the keyword to drop: the outermost that reverses what is below it, else the innermost that is no element of a list. */
function keywordPath(schema: JsonObject, pointer: string): readonly string[] {
  const path = segmentsOf(pointer)
  const isKeyword = (at: number): boolean => !isMember(path.slice(0, at + 1))
  const reversing = path.findIndex((segment, at) => REVERSING.has(segment) && isKeyword(at))
  if (reversing !== -1) return path.slice(0, reversing + 1)
  let length = path.length
  while (length > 1 && Array.isArray(valueAt(schema, path.slice(0, length - 1).reduce<string>(pointerTo, '')))) length--
  return path.slice(0, length)
}

/** True for the path of a member of `properties` and the like. */
function isMember(path: readonly string[]): boolean {
  let isNamed = false
  for (const segment of path) isNamed = !isNamed && NAMED.has(segment)
  return path.length > 1 && NAMED.has(path.at(-2)!) && !isNamed && !isMember(path.slice(0, -1))
}
