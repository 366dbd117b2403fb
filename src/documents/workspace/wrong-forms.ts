/** Values in another form: a string for a mapping, a schema without `inline`, a comparison as a string. */
import type { ErrorObject } from 'ajv'
import { isJsonObject } from '../../base/json/json.ts'
import { readWhen } from '../../policy/condition/when.ts'
import { nodeAt } from '../text/node.ts'
import { createFinding, type Diagnostic, type TextEdit } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { formatPointer } from '../text/pointer.ts'
import { withLineBreaksOf } from '../text/source.ts'
import { variableIn } from './common-mistakes.ts'
import type { SchemaName } from './schema-keys.ts'
import { noteOf } from './schema-notes.ts'

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
export function bareSchema(schema: SchemaName, file: DocumentSpans, error: ErrorObject): Diagnostic | undefined {
  const pointer = error.instancePath
  const value = valueAt(file.root.value, pointer)
  if (!noteOf(schema, error).alternatives?.includes('inline')) return undefined
  if (!isJsonObject(value) || 'ref' in value || 'inline' in value) return undefined
  if (!SCHEMA_KEYWORDS.some((word) => Object.hasOwn(value, word))) return undefined
  return createFinding(
    'doc/misplaced-key',
    'error',
    { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(pointer).range },
    `${formatPointer(pointer)} holds a JSON Schema itself, which belongs under \`inline\`.`,
    { fix: { description: 'Put it under `inline`.', edits: wrapValueEdits(file, pointer, 'inline') } },
  )
}

interface RewrittenText {
  /** In flow style of YAML. */
  readonly text: string
  readonly description: string
  readonly unsafe?: true
}

/** The mapping or number that a string means: a comparison, or a duration. */
export function rewrittenText(pointer: string, written: string): RewrittenText | undefined {
  if (pointer === '/spec/conditions' || /^\/spec\/conditions(?:\/(?:all|any)\/\d+|\/not)+$/.test(pointer)) {
    const text = whenIn(written) ?? comparisonIn(written)
    return text === undefined ? undefined : { text, description: `Write ${text}.` }
  }
  const minutes = minutesIn(written)
  if (minutes === undefined) return undefined
  if (pointer === '/spec/decision/timeout') {
    const text = `{after_minutes: ${minutes}, default: deny}`
    // The string does not say what happens at the timeout.
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

/** A leaf for `args.country eq DE`, which `when` would not read; undefined unless the text is exactly one comparison. */
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
  if (!('node' in readWhen(line))) return undefined
  return /["\\]/.test(line) ? `{when: '${line.replaceAll("'", "''")}'}` : `{when: "${line}"}`
}

/** `30m`, `2 hours`, `1d`, in minutes. */
function minutesIn(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,5}) ?(m|min|minutes?|h|hours?|d|days?)$/.exec(text.trim()) ?? []
  if (count === undefined || unit === undefined) return undefined
  if (unit.startsWith('m')) return Number(count)
  return Number(count) * (unit.startsWith('h') ? 60 : 24 * 60)
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
    // A string over several lines, or an unquoted one with flow indicators, cannot be wrapped unchanged.
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
