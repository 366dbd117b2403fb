/** Paths of conditions: a root, segments and at most one function. Source: docs/design/policies.md#paths-and-functions */
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import { CALL_FIELDS, PREVIOUS_FIELDS } from './fields.ts'
import type { PathSegment } from './segment.ts'
import { historyText, type HistoryMeasure, type HistoryScope, type HistorySubject } from './history.ts'
import { textBefore } from '../../base/text/text-parts.ts'
import { ownMember } from '../../base/json/own-member.ts'

export const PATH_FUNCTIONS = ['length', 'lower', 'fold', 'host', 'email_domain'] as const
export type PathFunction = (typeof PATH_FUNCTIONS)[number]

export type FactRoot =
  | 'args'
  | 'tool'
  | 'agent'
  | 'run'
  | 'session'
  | 'principal'
  | 'source'
  | 'history'
  | 'effect'
  | 'time'
  | 'svc'

export interface ConditionPath {
  /** Canonical text, the same for every spelling of a path. */
  readonly text: string
  readonly fn?: PathFunction
  readonly root: FactRoot
  /** Steps below the root; empty for `history`. */
  readonly segments: readonly PathSegment[]
  /** Set for root `history`. */
  readonly history?: {
    readonly scope: HistoryScope
    readonly whose: HistorySubject
    readonly measure: HistoryMeasure
    /** `by` of the comparison; part of `text`, since it names another measure. */
    readonly by?: string
  }
  /** True where the author left out `args.`. */
  readonly bare?: boolean
}

export type ReadPath =
  | { readonly path: ConditionPath }
  | { readonly problem: string; readonly code: 'syntax' | 'field' }

const CALL = /^[a-z_]+\(.*\)$/s
const HISTORY =
  /^history\.(run|session|window|workspace)\.(this_tool|same_args|all_tools)\.(?:(attempts|executed|denied|rejected|failed)|total\((.+)\))$/s
const PLAIN_KEY = /^[A-Za-z_][\w-]*$/
/** Longer paths are refused before they are parsed. */
const MAX_LENGTH = 1024

export function readPath(text: string): ReadPath {
  if (text.length > MAX_LENGTH) return { problem: `A path has at most ${MAX_LENGTH} characters.`, code: 'syntax' }
  const plain = plainArgument(text)
  if (plain !== undefined) return { path: plain }
  const written = text.trim()
  if (!CALL.test(written)) return readPlain(written)
  const called = textBefore(written, '(')
  const fn = PATH_FUNCTIONS.find((name) => name === called)
  if (!fn)
    return { problem: `There is no function "${called}"; there are ${PATH_FUNCTIONS.join(', ')}.`, code: 'field' }
  const inner = readPlain(written.slice(called.length + 1, -1).trim())
  if ('problem' in inner) return inner
  if (inner.path.root === 'history' || inner.path.root === 'time')
    return { problem: `${fn}() does not apply to ${inner.path.text}.`, code: 'field' }
  if (inner.path.root === 'source') return { problem: `${fn}() does not apply to sources.`, code: 'field' }
  return { path: { ...inner.path, fn, text: `${fn}(${inner.path.text})` } }
}

/** `args.name`, the most common form, which is its own canonical text. */
function plainArgument(text: string): ConditionPath | undefined {
  if (!text.startsWith('args.')) return undefined
  const key = text.slice('args.'.length)
  return PLAIN_KEY.test(key) ? { text, root: 'args', segments: [{ key }] } : undefined
}

/** True for a path that stands for many values. */
export function isSpread({ segments }: ConditionPath): boolean {
  return segments.some((segment) => 'each' in segment)
}

/** An argument path without `[*]` and without a function, as `allow` lists and totals name them; undefined for any other text. */
export function readArgumentPath(text: string): ConditionPath | undefined {
  const read = text.includes('(') ? undefined : readPath(text)
  if (!read || !('path' in read) || read.path.root !== 'args') return undefined
  return isSpread(read.path) ? undefined : read.path
}

/**
 * The value of an argument path such as `args.amount` or `total`'s operand; undefined when there is none.
 * Inherited members are ignored.
 */
export function argumentAt(args: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = args
  for (const segment of readArgumentPath(path)?.segments ?? [{ each: true } as const]) value = stepInto(value, segment)
  return value
}

/** The value of an argument path as canonical text, by which calls are told apart; undefined where there is none. */
export function argumentText(args: JsonValue, path: string): string | undefined {
  const value = argumentAt(args, path)
  return value === undefined ? undefined : canonicalJson(value)
}

/** One step into a value; undefined when there is nothing there, and for `[*]`. */
export function stepInto(value: JsonValue | undefined, segment: PathSegment): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if ('index' in segment) return Array.isArray(value) ? value[segment.index] : undefined
  if ('each' in segment || Array.isArray(value)) return undefined
  return ownMember(value, segment.key)
}

function readPlain(text: string): ReadPath {
  if (text.startsWith('history.') || text === 'history') return readHistory(text)
  const segments = readSegments(text)
  if (typeof segments === 'string') return { problem: segments, code: 'syntax' }
  const [first, ...rest] = segments
  const root = first && 'key' in first ? first.key : ''
  if (root === 'args') return { path: { text: write('args', rest), root, segments: rest } }
  if (root === 'source')
    return rest.length === 0
      ? { problem: 'source is followed by an argument: source.to.', code: 'field' }
      : { path: { text: write(root, rest), root, segments: rest } }
  const fields = ownMember(CALL_FIELDS, root)
  if (!fields) return { path: { text: write('args', segments), root: 'args', segments, bare: true } }
  const problem = unknownField(root, fields, rest)
  if (problem) return { problem, code: 'field' }
  return { path: { text: write(root, rest), root: root as FactRoot, segments: rest } }
}

function unknownField(
  root: string,
  fields: (typeof CALL_FIELDS)[string],
  segments: readonly PathSegment[],
): string | undefined {
  const [first, second, ...more] = segments
  const name = first && 'key' in first ? first.key : ''
  if (!Object.hasOwn(fields, name))
    return `${root} has no field ${name === '' ? 'like this' : `"${name}"`}; it has ${Object.keys(fields).join(', ')}.`
  const below = `${root}.${name}`
  if (name === 'labels')
    return second && 'key' in second && more.length === 0 ? undefined : `${below} is followed by the name of one label.`
  if (name === 'dispatch')
    return second && 'key' in second && second.key === 'trigger' && more.length === 0
      ? undefined
      : `${below} has one field, trigger.`
  if (root === 'effect' && name === 'previous')
    return second &&
      'key' in second &&
      PREVIOUS_FIELDS.includes(second.key) &&
      (more.length === 0 || second.key === 'approved_by')
      ? undefined
      : `${below} has ${PREVIOUS_FIELDS.join(', ')}.`
  if (name === 'classifications')
    return more.length === 0 && (!second || !('key' in second)) ? undefined : `${below} is a list of strings.`
  return second ? `${below} has no fields.` : undefined
}

function readHistory(text: string): ReadPath {
  const match = HISTORY.exec(text)
  if (!match)
    return {
      problem:
        'A history path is history.<run, session, window or workspace>.<this_tool, same_args or all_tools>.<attempts, executed, denied, rejected, failed or total(args.path)>.',
      code: 'field',
    }
  // The pattern has these words in these places.
  const [scope, whose, counted] = match.slice(1) as [HistoryScope, HistorySubject, Extract<HistoryMeasure, string>]
  const operand = match[4]
  const total = operand === undefined ? undefined : readArgumentPath(operand.trim())
  if (operand !== undefined && !total)
    return { problem: `total() takes an argument path, for example total(args.amount).`, code: 'field' }
  const measure = total ? { total: total.text } : counted
  return {
    path: {
      text: historyText(scope, whose, measure),
      root: 'history',
      segments: [],
      history: { scope, whose, measure },
    },
  }
}

/** The segments of a path, or a sentence about what is wrong with its text. */
function readSegments(text: string): PathSegment[] | string {
  const segments: PathSegment[] = []
  const token = /\[\*\]|\[(\d{1,9})\]|\["((?:[^"\\]|\\.)*)"\]|\['([^']*)'\]|(\.?)([^.[\]()"'\s]+)/gsy
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const match = token.exec(text)
    const [whole, index, quoted, single, dot, key] = match ?? []
    const name = single ?? key
    // A name starts the path or follows a dot; a bracket follows something.
    if (!match || (key !== undefined && (at === 0) === (dot === '.')) || (key === undefined && at === 0))
      return `"${text}" is not a path: unexpected ${JSON.stringify(text[at])} at ${at + 1}.`
    if (whole === '[*]') segments.push({ each: true })
    else if (index !== undefined) segments.push({ index: Number(index) })
    else if (quoted !== undefined) {
      const unquoted = unquote(quoted)
      if (unquoted === undefined) return `"${text}" is not a path: the quoted name at ${at + 2} is not a JSON string.`
      segments.push({ key: unquoted })
    } else if (name !== undefined) segments.push({ key: name })
  }
  return segments.length === 0 ? 'A path is not empty.' : segments
}

function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(`"${quoted}"`) as string
  } catch {
    return undefined
  }
}

/** The text of a path without its function. */
export const innerPathText = ({ fn, text }: ConditionPath): string =>
  fn === undefined ? text : text.slice(fn.length + 1, -1)

/** The path of the value that the function is applied to. */
export function withoutFunction(path: ConditionPath): ConditionPath {
  const { fn, ...rest } = path
  return fn === undefined ? path : { ...rest, text: innerPathText(path) }
}

/** The text of a source path without its root: `payee.iban`. */
export const sourceText = (segments: readonly PathSegment[]): string => write('', segments).replace(/^\./, '')

/** The canonical text of an argument path. */
export const pathText = (segments: readonly PathSegment[]): string => write('args', segments)

const write = (root: string, segments: readonly PathSegment[]): string =>
  root +
  segments
    .map((segment) => {
      if ('each' in segment) return '[*]'
      if ('index' in segment) return `[${segment.index}]`
      return PLAIN_KEY.test(segment.key) ? `.${segment.key}` : `[${JSON.stringify(segment.key)}]`
    })
    .join('')
