/** Messages for values that a schema refuses, with the value that was probably meant. */
import type { ErrorObject } from 'ajv'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { nodeAt } from '../text/node.ts'
import {
  createFinding,
  replaceScalarFix,
  type Diagnostic,
  type FindingFix,
  type FindingText,
} from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { formatPointer } from '../text/pointer.ts'
import { completeVersion } from '../text/reference.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import { isChoice, joinNames, missingProperty } from './missing-keys.ts'
import { knownKeysAt, type SchemaName } from './schema-keys.ts'
import { noteOf } from './schema-notes.ts'
import { rewrittenText, wrapValueEdits } from './wrong-forms.ts'
import { ownMember } from '../../base/json/own-member.ts'

/** The finding for one schema error; undefined for errors that are reported elsewhere. */
export function describeWrongValue(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
): Diagnostic | undefined {
  const pointer = error.instancePath
  const name = nameOf(pointer)
  const { message, alternatives = [], confirm = false, ...note } = noteOf(schema, error)
  const fix = note.fix === undefined ? {} : { fix: note.fix }
  const finding = (message: string, details?: FindingText): Diagnostic =>
    createFinding('doc/schema', 'error', file.placeOf(pointer), message, details)
  const atKey = (at: string, message: string): Diagnostic => {
    const range = file.keySpanOf(at) ?? file.placeOf(pointer).range
    return createFinding('doc/schema', 'error', { path: file.source.path, pointer: at, range }, message, fix)
  }
  switch (error.keyword) {
    case 'additionalProperties':
      return undefined
    case 'type':
      return wrongType(schema, file, error)
    case 'required':
      return message === undefined ? undefined : finding(message, { ...fix, missing: [missingProperty(error)] })
    case 'oneOf':
      if (isChoice(error)) return undefined
      return finding(`${name} has more than one of ${joinNames(alternatives, 'or')}.`, { fix: 'Keep one of them.' })
    case 'false schema':
      return message === undefined ? undefined : atKey(pointer, message)
    case 'const':
    case 'enum': {
      // Reading the head of a document reports these two.
      if (pointer === '/kind' || pointer === '/apiVersion') return undefined
      const allowed = (error.params['allowedValues'] as JsonValue[] | undefined) ?? [
        error.params['allowedValue'] as JsonValue,
      ]
      return notAllowed(file, pointer, allowed.map(String), confirm)
    }
    case 'propertyNames': {
      const key = String(error.params['propertyName'])
      return atKey(pointerTo(pointer, key), (message ?? '{key} cannot be a name here.').replace('{key}', `"${key}"`))
    }
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return finding(`${name} must not be empty.`)
    default:
      return finding(message?.replace('{path}', name) ?? `${name} ${error.message ?? 'is not valid'}.`, fix)
  }
}

const nameOf = (pointer: string): string => formatPointer(pointer) || 'The document'

function wrongType(schema: SchemaName, file: DocumentSpans, error: ErrorObject): Diagnostic {
  const pointer = error.instancePath
  const wanted = [error.params['type'] as string | string[]].flat()
  const found = valueAt(file.root.value, pointer)
  const name = nameOf(pointer)
  const place = file.placeOf(pointer)
  const finding = (rule: string, message: string, details?: FindingText): Diagnostic =>
    createFinding(rule, 'error', place, message, details)
  const written = file.source.text.slice(place.range.start.offset, place.range.end.offset)
  if (wanted.includes('string') && (typeof found === 'number' || typeof found === 'boolean')) {
    const meant = pointer === '/metadata/version' ? (completeVersion(written) ?? written) : written
    const fix: FindingFix = {
      description: `Write "${meant}" in quotes.`,
      edits: [{ path: place.path, range: place.range, text: JSON.stringify(meant) }],
    }
    return finding(
      'doc/unquoted-scalar',
      `${name} must be a string, but ${written} without quotes is a ${nameOfType(typeof found)}${typeof found === 'number' && String(found) !== written ? ` (${found})` : ''}.`,
      { fix },
    )
  }
  if (wanted.includes('boolean') && typeof found === 'string' && /^(?:yes|no|on|off|y|n)$/i.test(found)) {
    const meant = /^(?:yes|on|y)$/i.test(found)
    return finding('doc/yaml11-boolean', `${name} must be true or false; YAML 1.2 reads \`${found}\` as text.`, {
      fix: replaceScalarFix(place, meant),
    })
  }
  const foundType = found === null ? 'empty' : articleFor(nameOfType(typeOf(found)))
  const fix = fixForType(schema, file, error, wanted, found)
  const isConditionText = schema === 'policy' && pointer === '/spec/conditions' && typeof found === 'string'
  return finding(
    // The same fault below `all`, `any` and `not`, which have no schema, is of this rule.
    isConditionText ? 'policy/condition-syntax' : 'doc/schema',
    `${name} must be ${wanted.map((each) => articleFor(nameOfType(each))).join(' or ')}, but is ${foundType}.`,
    { wrongValue: true, ...(fix !== undefined && { fix }) },
  )
}

/** How the value is written in a wanted type; undefined where the meaning is unclear. */
function fixForType(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
  wanted: readonly string[],
  found: JsonValue | undefined,
): string | FindingFix | undefined {
  const pointer = error.instancePath
  const place = file.placeOf(pointer)
  const range = file.spanOf(pointer) ?? place.range
  const written = file.source.text.slice(range.start.offset, range.end.offset)
  const replacement = (text: string, description: string): FindingFix => ({
    description,
    edits: written.includes('\n') ? [] : [{ path: place.path, range, text }],
  })
  if (typeof found === 'string') {
    const value = parseScalar(found, wanted)
    if (value !== undefined) return replaceScalarFix(place, value, `Write ${found} without quotes.`)
    const rewritten = rewrittenText(pointer, found)
    if (rewritten !== undefined) {
      const { text, description, ...rest } = rewritten
      const isFlowText = !file.source.path.endsWith('.json')
      return { description, edits: isFlowText ? replacement(text, description).edits : [], ...rest }
    }
    const wrapper = found.trim() === '' ? undefined : noteOf(schema, error).textKey
    if (wrapper !== undefined)
      return { description: `Write it under \`${wrapper}\`.`, edits: wrapValueEdits(file, pointer, wrapper) }
    if (wanted.includes('array') && found.trim() !== '')
      return replacement(
        `[${/^["']|^[\w.@/-]+$/.test(written) ? written : JSON.stringify(found)}]`,
        'Write it as the only item of a list.',
      )
  }
  if (Array.isArray(found) && wanted.includes('string')) {
    const only = nodeAt(file.root, [...segmentsOf(pointer), '0'])
    if (found.length !== 1 || typeof found[0] !== 'string' || only === undefined || only.alias) return undefined
    return replacement(file.source.text.slice(only.start, only.end), 'Write the text without brackets.')
  }
  if (wanted.includes('array') && isJsonObject(found))
    return 'Write each entry as an item of a list, with `-` before it.'
  if (!wanted.includes('object')) return undefined
  if (pointer === '/spec/conditions' && Array.isArray(found)) return 'Write the comparisons under `all` or `any`.'
  if (pointer === '/spec/conditions')
    return 'Write it under `when`: `{when: \'args.NAME > 100 and args.OTHER == "text"\'}`.'
  const names = knownKeysAt(schema, pointer)
  return names.length === 0 ? undefined : `Its keys are ${joinNames(names, 'and')}.`
}

/** The number or truth value that a text spells, where one of these is wanted. */
function parseScalar(text: string, wanted: readonly string[]): number | boolean | undefined {
  if (wanted.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true'
  const isNumber = wanted.includes('number') ? /^-?\d{1,15}(?:\.\d+)?$/ : /^-?\d{1,15}$/
  return (wanted.includes('number') || wanted.includes('integer')) && isNumber.test(text) ? Number(text) : undefined
}

/** The only allowed word that begins with the written one or has it as a part: `irreversible_action` for `irreversible`, `require_approval` for `approval`. */
function completeWord(written: string, allowed: readonly string[]): string | undefined {
  const lower = written.toLowerCase()
  const found = allowed.filter(
    (each) => written.length > 3 && (each.startsWith(lower) || each.split('_').includes(lower)),
  )
  return found.length === 1 ? found[0] : undefined
}

/** @param confirm true where a correction is left to a person: `--fix` leaves it out unless only case or punctuation differ */
function notAllowed(file: DocumentSpans, pointer: string, allowed: readonly string[], confirm: boolean): Diagnostic {
  const found = valueAt(file.root.value, pointer)
  const place = file.placeOf(pointer)
  const near =
    typeof found === 'string' ? (nearestCandidate(found, allowed) ?? completeWord(found, allowed)) : undefined
  const list = allowed.length === 1 ? `\`${allowed[0]}\`` : `one of ${allowed.map((each) => `\`${each}\``).join(', ')}`
  return createFinding(
    'doc/schema',
    'error',
    place,
    `${formatPointer(pointer)} must be ${list}, but is ${JSON.stringify(found)}.${didYouMean(near)}`,
    {
      wrongValue: true,
      ...(near !== undefined
        ? { fix: { ...replaceScalarFix(place, near), ...(confirm && !isSameWord(found, near) && { unsafe: true }) } }
        : allowed.length === 1 && { fix: `Write ${allowed[0]}.` }),
    },
  )
}

const isSameWord = (found: JsonValue | undefined, near: string): boolean =>
  typeof found === 'string' && lettersOf(found) === lettersOf(near)

const lettersOf = (word: string): string => word.toLowerCase().replaceAll(/[^a-z]/g, '')

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  object: 'mapping',
  array: 'list',
  null: 'empty value',
}
const nameOfType = (type: string): string => ownMember(TYPE_NAMES, type) ?? type

function typeOf(value: JsonValue | undefined): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
const articleFor = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
