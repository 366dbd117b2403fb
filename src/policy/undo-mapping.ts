/**
 * The labels of a Tool document that say how its calls are undone: by which tool and with which arguments.
 * Source: docs/design/steering.md#undo
 */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, parseJsonIfAny } from '../base/json/json.ts'
import { readArgumentPath, stepInto } from './condition/path.ts'
import type { PathSegment } from './condition/segment.ts'
import { splitBraces } from './condition/split-braces.ts'

export const UNDONE_BY = 'svc/undone-by'
export const UNDO_ARGUMENTS = 'svc/undo-arguments'
/** The value of `svc/undone-by` for calls that cannot be undone. */
export const NOTHING_UNDOES = 'none'

/** A mapping is read again for every plan; longer ones are refused before that. */
const MAX_MAPPING = 16 * 1024
const LOGICAL_ID = /^[^\s@/]+\.[^\s@/.]+$/

type Labels = Readonly<Record<string, string>>

/** A value of the call that is undone: of its arguments or its result. */
export interface UndoPlaceholder {
  readonly root: 'args' | 'result'
  /** `args.order`, `result.id`. */
  readonly path: string
  readonly segments: readonly PathSegment[]
}

/** A text with placeholders, in order. One that is a single placeholder keeps the type of its value. */
export type UndoText = readonly (string | UndoPlaceholder)[]

export interface UndoMapping {
  /** Logical id of the tool that undoes. */
  readonly tool: string
  /** Its arguments, with placeholders in their texts. */
  readonly arguments: JsonObject
}

export type ReadUndo =
  | { readonly none: true }
  | { readonly mapping: UndoMapping }
  /** `label` is the one that is wrong. */
  | { readonly problem: string; readonly label: string; readonly placeholder?: string }

/** Reads these labels; undefined if there are none. */
export function readUndo(labels: Labels): ReadUndo | undefined {
  const [by, text] = [labels[UNDONE_BY], labels[UNDO_ARGUMENTS]]
  if (by === undefined)
    return text === undefined ? undefined : { label: UNDO_ARGUMENTS, problem: `${UNDO_ARGUMENTS} needs ${UNDONE_BY}.` }
  if (by === NOTHING_UNDOES)
    return text === undefined
      ? { none: true }
      : { label: UNDO_ARGUMENTS, problem: `${UNDONE_BY} is none, so ${UNDO_ARGUMENTS} maps nothing.` }
  if (!LOGICAL_ID.test(by))
    return { label: UNDONE_BY, problem: `"${by}" is neither a tool (namespace.name, without a version) nor none.` }
  if (text === undefined) return { mapping: { tool: by, arguments: {} } }
  const given = text.length > MAX_MAPPING ? undefined : parseJsonIfAny(text)
  if (!isJsonObject(given))
    return {
      label: UNDO_ARGUMENTS,
      problem: `${UNDO_ARGUMENTS} is a JSON object of at most ${MAX_MAPPING.toLocaleString('en')} characters: {"refund_id": "{result.id}"}.`,
    }
  for (const each of textsIn(given)) {
    const read = readUndoText(each)
    if ('problem' in read) return { label: UNDO_ARGUMENTS, ...read }
  }
  return { mapping: { tool: by, arguments: given } }
}

/** The texts of a value, those of its members included; names of members have no placeholders. */
export function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((each: JsonValue) => textsIn(each))
}

/** Reads a text such as `{result.id}` or `Undo of order {args.order}`. */
export function readUndoText(
  text: string,
): { readonly parts: UndoText } | { readonly problem: string; readonly placeholder?: string } {
  const parts: (string | UndoPlaceholder)[] = []
  for (const part of splitBraces(text)) {
    if (part === undefined) return { problem: `A brace in ${UNDO_ARGUMENTS} has no partner: "${text}".` }
    if (typeof part === 'string') {
      parts.push(part)
      continue
    }
    const { placeholder } = part
    const read = readPlaceholder(placeholder)
    if (!read)
      return {
        problem: `"${placeholder}" is neither an argument nor a part of the result: {args.order}, {result.id}.`,
        placeholder,
      }
    parts.push(read)
  }
  return { parts }
}

const ROOT = /^(args|result)(?=$|[.[])/

function readPlaceholder(inner: string): UndoPlaceholder | undefined {
  const root = ROOT.exec(inner)?.[1] as UndoPlaceholder['root'] | undefined
  // Paths into a result are written as those into arguments.
  const path = root && readArgumentPath(`args${inner.slice(root.length)}`)
  return path ? { root, path: inner, segments: path.segments } : undefined
}

/** The placeholders of a mapping. */
export const placeholdersIn = (value: JsonValue): readonly UndoPlaceholder[] =>
  textsIn(value).flatMap((text) => {
    const read = readUndoText(text)
    return 'parts' in read ? read.parts.filter((part) => typeof part !== 'string') : []
  })

/** A call that was made. */
export interface UndoSource {
  readonly args: JsonValue
  readonly result: JsonValue
}

/**
 * The arguments of the call that undoes another one.
 * @returns `problem` if the recorded call lacks a value that the mapping names
 */
export function undoArguments(
  { arguments: given }: UndoMapping,
  source: UndoSource,
): { readonly arguments: JsonObject } | { readonly problem: string } {
  try {
    return { arguments: fillIn(given, source) as JsonObject }
  } catch (error) {
    if (error instanceof Unfilled) return { problem: error.message }
    throw error
  }
}

class Unfilled extends Error {}

function fillIn(value: JsonValue, source: UndoSource): JsonValue {
  if (typeof value === 'string') return fillText(value, source)
  if (Array.isArray(value)) return value.map((each) => fillIn(each, source))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fillIn(each, source)]))
}

function fillText(text: string, source: UndoSource): JsonValue {
  const read = readUndoText(text)
  if ('problem' in read) throw new Unfilled(read.problem)
  const [only, ...more] = read.parts
  if (only !== undefined && typeof only !== 'string' && more.length === 0) return valueAt(only, source)
  return read.parts.map((part) => (typeof part === 'string' ? part : asText(part, source))).join('')
}

function valueAt({ root, path, segments }: UndoPlaceholder, source: UndoSource): JsonValue {
  let value: JsonValue | undefined = source[root]
  for (const segment of segments) value = stepInto(value, segment)
  if (value === undefined) throw new Unfilled(`the recorded call has no ${path}`)
  return value
}

function asText(placeholder: UndoPlaceholder, source: UndoSource): string {
  const value = valueAt(placeholder, source)
  if (typeof value === 'string') return value
  if (typeof value === 'object') throw new Unfilled(`${placeholder.path} is no text or number that a text can hold`)
  return canonicalJson(value)
}
