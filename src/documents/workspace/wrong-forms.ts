/** Values written in another form than the format has: a text for a mapping, a schema without `inline`, a comparison as a text. */
import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { readWhen } from '../../policy/condition/when.ts'
import { nodeAt } from '../edit/removal.ts'
import { createFinding, type Diagnostic, type TextEdit } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { formatPointer, segmentsOf } from '../text/pointer.ts'
import { withLineBreaksOf } from '../text/source.ts'
import { variableIn } from './common-mistakes.ts'

const SCHEMA_SPEC = /\/(?:input_schema|output_schema)$|^\/output\/schema$/
const SCHEMA_KEYWORDS = [
  'type',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'enum',
  '$ref',
  '$schema',
  'oneOf',
  'anyOf',
  'allOf',
]

/** A JSON Schema that is written where a schema spec belongs: one finding for all of its keys. */
export function bareSchema(file: DocumentSpans, pointer: string, value: JsonValue | undefined): Diagnostic | undefined {
  if (!SCHEMA_SPEC.test(pointer) || !isJsonObject(value) || 'ref' in value || 'inline' in value) return undefined
  if (!SCHEMA_KEYWORDS.some((word) => Object.hasOwn(value, word))) return undefined
  return createFinding(
    'doc/misplaced-key',
    'error',
    { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(pointer).range },
    `${formatPointer(pointer)} holds a JSON Schema itself, which belongs under \`inline\`.`,
    { fix: { description: 'Put it under `inline`.', edits: wrapValueEdits(file, pointer, 'inline') } },
  )
}

/** Keys under which a text stands where a mapping is wanted. */
const WRAPPED: readonly (readonly [RegExp, string])[] = [
  [/^\/spec\/instructions$/, 'text'],
  [/^\/spec\/(?:tools|agents)\/\d+$/, 'ref'],
  [SCHEMA_SPEC, 'ref'],
  [/^\/secrets\/[^/]+$/, 'fromEnv'],
  [/^\/spec\/decision$/, 'type'],
]

/** The key under which a text was surely meant to stand; undefined where nobody can tell. */
export const wrapperOf = (pointer: string, text: string): string | undefined =>
  text.trim() === '' ? undefined : WRAPPED.find(([at]) => at.test(pointer))?.[1]

interface RewrittenText {
  /** In flow style of YAML. */
  readonly text: string
  readonly description: string
  readonly unsafe?: true
}

/** What says the same as a text that stands where a mapping or a number is wanted: a comparison, or a time. */
export function rewrittenText(pointer: string, written: string): RewrittenText | undefined {
  if (pointer === '/spec/conditions' || /^\/spec\/conditions(?:\/(?:all|any)\/\d+|\/not)+$/.test(pointer)) {
    const text = comparisonIn(written) ?? whenIn(written)
    return text === undefined ? undefined : { text, description: `Write ${text}.` }
  }
  const minutes = minutesIn(written)
  if (minutes === undefined) return undefined
  if (pointer === '/spec/decision/timeout') {
    const text = `{after_minutes: ${minutes}, default: deny}`
    // What happens then was not said.
    return { text, description: `Write ${text}.`, unsafe: true }
  }
  return pointer === '/spec/decision/timeout/after_minutes'
    ? { text: String(minutes), description: `Write ${minutes}.` }
    : undefined
}

const COMPARISON = /^([a-z]+(?:\.[\w-]+)+) *(==|!=|>=|<=|>|<|(?: (?:eq|ne|gte|gt|lte|lt) )) *(.+)$/
const OPERATOR_WORDS: Readonly<Record<string, string>> = {
  '==': 'eq',
  '!=': 'ne',
  '>': 'gt',
  '>=': 'gte',
  '<': 'lt',
  '<=': 'lte',
}

/** A leaf for `args.amount > 100`; undefined for more than one comparison, and for what is none. */
function comparisonIn(text: string): string | undefined {
  const [, field, written, value] = COMPARISON.exec(text.trim()) ?? []
  if (field === undefined || written === undefined || value === undefined) return undefined
  const isLiteral = /^(?:-?\d{1,15}(?:\.\d+)?|true|false|"[^"\\]*"|'[^'\\]*'|[A-Za-z_]\w*)$/.test(value)
  const op = OPERATOR_WORDS[written] ?? written.trim()
  return isLiteral ? `{field: ${field}, op: ${op}, value: ${value}}` : undefined
}

/** `{when: …}` for a text that is a condition on one line. */
function whenIn(text: string): string | undefined {
  const line = text.trim().replaceAll(/\s*\n\s*/g, ' ')
  return 'node' in readWhen(line) ? `{when: '${line.replaceAll("'", "''")}'}` : undefined
}

/** `30m`, `2 hours`, `1d`, in minutes. */
function minutesIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5}) ?(m|min|minutes?|h|hours?|d|days?)$/.exec(text.trim()) ?? []
  return count === undefined || unit === undefined
    ? undefined
    : Number(count) * (unit.startsWith('m') ? 1 : unit.startsWith('h') ? 60 : 24 * 60)
}

/** Edits that put the value at a pointer under a key of a new mapping. */
export function wrapValueEdits({ source, root }: DocumentSpans, pointer: string, key: string): TextEdit[] {
  const node = nodeAt(root, segmentsOf(pointer))
  if (node === undefined || node.alias) return []
  const { text, path } = source
  const put = (at: number, written: string): TextEdit => ({
    path,
    range: source.span(at, at),
    text: withLineBreaksOf(source, written),
  })
  const name = path.endsWith('.json') ? JSON.stringify(key) : key
  const isBlock = node.members !== undefined && text[node.start] !== '{'
  if (!isBlock) {
    const variable = key === 'fromEnv' && typeof node.value === 'string' ? variableIn(node.value) : undefined
    if (variable !== undefined) {
      const meant = `{ ${name}: ${path.endsWith('.json') ? JSON.stringify(variable) : variable} }`
      return [{ path, range: source.span(node.start, node.end), text: meant }]
    }
    // A text over several lines, or without quotes and with marks of flow style in it, would need another form.
    const written = text.slice(node.start, node.end)
    if (written.includes('\n') || (node.plain && /[,[\]{}#:]/.test(written)) || /^[|>&*!]/.test(written)) return []
    return [put(node.start, `{ ${name}: `), put(node.end, ' }')]
  }
  const indent = node.start - (text.lastIndexOf('\n', node.start - 1) + 1)
  const edits = [put(node.start, `${name}:\n${' '.repeat(indent + 2)}`)]
  for (let at = text.indexOf('\n', node.start); at >= 0 && at < node.end - 1; at = text.indexOf('\n', at + 1))
    if (!/^\s*(?:\n|$)/.test(text.slice(at + 1, text.indexOf('\n', at + 1) + 1 || undefined)))
      edits.push(put(at + 1, '  '))
  return edits
}
