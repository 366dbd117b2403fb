/**
 * Checks what Tool documents say about undoing their calls against the schemas of both tools. Source: docs/design/steering.md#undo
 */
import { rcompare } from 'semver'
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { listIn, typesOf } from '../../policy/prove/schema-parts.ts'
import type { PathSegment } from '../../policy/condition/segment.ts'
import {
  placeholdersIn,
  readUndo,
  readUndoText,
  UNDO_ARGUMENTS,
  UNDONE_BY,
  type ReadUndo,
  type UndoMapping,
  type UndoPlaceholder,
} from '../../policy/undo-mapping.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import type { Document } from '../text/document.ts'
import { isVersion } from '../text/reference.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { toolInput, toolOutput } from './agents/inputs.ts'
import { labelOfTool } from './effect-keys.ts'
import { ownMember } from '../../base/json/own-member.ts'

/** The undo labels of a Tool document; undefined without any. */
export function undoOfTool(tool: Document): ReadUndo | undefined {
  const labels = [UNDONE_BY, UNDO_ARGUMENTS].flatMap((name) => {
    const value = labelOfTool(tool, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return readUndo(Object.fromEntries(labels))
}

/** The Tool document of a logical id, of its highest version. */
export const toolNamedBy = (workspace: Workspace, from: Document, id: string): Document | undefined =>
  workspace
    .find(from, 'Tool', id)
    .filter(({ identity }) => isVersion(identity.version))
    .toSorted((a, b) => rcompare(a.identity.version, b.identity.version))[0]

/** A placeholder that names no known value, and the names that exist. */
export interface UnknownPlaceholder {
  readonly placeholder: UndoPlaceholder
  readonly name: string
  readonly known: readonly string[]
}

/** The placeholders whose names the tool's schemas do not declare. */
export function unknownPlaceholders(
  workspace: Workspace,
  tool: Document,
  mapping: UndoMapping,
): readonly UnknownPlaceholder[] {
  const schemas = { args: toolInput(workspace, tool)?.value, result: toolOutput(workspace, tool)?.value }
  return placeholdersIn(mapping.arguments).flatMap((placeholder): UnknownPlaceholder[] => {
    const missing = undeclaredStep(schemas[placeholder.root], placeholder.segments)
    return missing ? [{ placeholder, ...missing }] : []
  })
}

/** The first step of a path that an object does not declare; undefined if the object may have further members. */
function undeclaredStep(
  schema: JsonSchema | undefined,
  segments: readonly PathSegment[],
): { readonly name: string; readonly known: readonly string[] } | undefined {
  let here: JsonValue | undefined = schema
  for (const segment of segments) {
    if (!isJsonObject(here)) return undefined
    if (!('key' in segment)) {
      here = here['items']
      continue
    }
    const { properties, additionalProperties, patternProperties }: JsonObject = here
    if (!isJsonObject(properties)) return undefined
    if (!Object.hasOwn(properties, segment.key)) {
      const isOpen = patternProperties !== undefined || (additionalProperties ?? false) !== false
      const isComposed = COMPOSITIONS.some((keyword) => Object.hasOwn(here as JsonObject, keyword))
      return isOpen || isComposed ? undefined : { name: segment.key, known: Object.keys(properties) }
    }
    here = properties[segment.key]
  }
  return undefined
}

/** Keywords that may declare further members. */
const COMPOSITIONS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas']

/** The faults in the arguments that a mapping gives to the undoing tool, one sentence each. */
export function findMappingFaults(
  { tool: id, arguments: mapped }: UndoMapping,
  undoing: JsonSchema,
  undone: Document,
  workspace: Workspace,
): readonly string[] {
  if (!isJsonObject(undoing)) return []
  const { properties, additionalProperties, patternProperties } = undoing
  const declared = isJsonObject(properties) ? properties : {}
  const missing = listIn(undoing, 'required').filter(
    (name): name is string => typeof name === 'string' && !Object.hasOwn(mapped, name),
  )
  const isClosed = additionalProperties === false && patternProperties === undefined
  const unknown = Object.keys(mapped).filter((name) => isClosed && !Object.hasOwn(declared, name))
  const schemas = { args: toolInput(workspace, undone)?.value, result: toolOutput(workspace, undone)?.value }
  const unfit = Object.entries(mapped).flatMap(([name, value]): string[] => {
    const wanted = typesAt(ownMember(declared, name), [])
    const given = typesOfValue(value, schemas)
    if (!wanted || !given || given.some((type) => wanted.some((each) => mayBe(type, each)))) return []
    return [`Argument ${name} of ${id} is ${wanted.join(' or ')}, and the mapping gives ${given.join(' or ')}.`]
  })
  return [
    ...missing.map((name) => `Argument ${name} of ${id} is required, and the mapping does not give it.`),
    ...unknown.map((name) => `${id} has no argument ${name}.`),
    ...unfit,
  ]
}

/** The types that a mapped value can have; undefined = unknown. */
function typesOfValue(
  value: JsonValue,
  schemas: Readonly<Record<UndoPlaceholder['root'], JsonSchema | undefined>>,
): readonly string[] | undefined {
  if (typeof value !== 'string') return [typeOfJson(value)]
  const read = readUndoText(value)
  if ('problem' in read) return undefined
  const [only, ...more] = read.parts
  if (only === undefined || typeof only === 'string' || more.length > 0) return ['string']
  return typesAt(schemas[only.root], only.segments)
}

function typesAt(schema: JsonValue | undefined, segments: readonly PathSegment[]): readonly string[] | undefined {
  let here = schema
  for (const segment of segments) {
    if (!isJsonObject(here)) return undefined
    const { properties, items }: JsonObject = here
    if (!('key' in segment)) here = items
    else here = isJsonObject(properties) ? ownMember(properties, segment.key) : undefined
  }
  return isJsonObject(here) ? typesOf(here) : undefined
}

const typeOfJson = (value: JsonValue): string => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const NUMBERS: ReadonlySet<string> = new Set(['integer', 'number'])
/** A `number` may be an integer. */
const mayBe = (given: string, wanted: string): boolean =>
  given === wanted || (NUMBERS.has(given) && NUMBERS.has(wanted))
