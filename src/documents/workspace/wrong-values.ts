/** Messages for values that a schema refuses, with the value that was probably meant. */
import type { ErrorObject } from 'ajv'
import { isJsonObject, type JsonValue } from '../../base/json.ts'
import { nodeAt } from '../edit/removal.ts'
import {
  createFinding,
  replaceScalarFix,
  type Diagnostic,
  type FindingFix,
  type FindingText,
} from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { formatPointer, pointerTo, segmentsOf, valueAt } from '../text/pointer.ts'
import { completeVersion } from '../text/reference.ts'
import { nearestCandidate } from '../text/suggest.ts'
import { alternativesAt, isChoice, listKeys, missingProperty } from './missing-keys.ts'
import { knownKeysAt, type SchemaName } from './schema-keys.ts'
import { rewrittenText, wrapperOf, wrapValueEdits } from './wrong-forms.ts'

/** The finding for one schema error; undefined for errors that are reported elsewhere. */
export function describeWrongValue(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
): Diagnostic | undefined {
  const pointer = error.instancePath
  const name = nameOf(pointer)
  const finding = (message: string, details?: FindingText): Diagnostic =>
    createFinding('doc/schema', 'error', file.placeOf(pointer), message, details)
  switch (error.keyword) {
    case 'additionalProperties':
      return undefined
    case 'type':
      return wrongType(schema, file, pointer, [error.params['type'] as string | string[]].flat())
    case 'required':
      if (missingProperty(error) === 'base_url')
        return finding('`base_url` is missing: an openai-compatible provider has no address of its own.', {
          fix: 'Add the absolute http(s) URL of its chat-completion endpoint.',
          missing: ['base_url'],
        })
      if (missingProperty(error) === 'header')
        return finding('`header` is missing: with `scheme: header` the secret is sent in the header that is named.', {
          missing: ['header'],
        })
      return undefined
    case 'oneOf':
      if (isChoice(error)) return undefined
      return finding(`${name} has more than one of ${listKeys(alternativesAt(pointer, error), 'or')}.`, {
        fix: 'Keep one of them.',
      })
    case 'not':
      return finding('`temperature` and `top_p` must not both be set.', { fix: 'Keep one of them.' })
    case 'false schema':
      return createFinding(
        'doc/schema',
        'error',
        { ...file.placeOf(pointer), range: file.keySpanOf(pointer) ?? file.placeOf(pointer).range },
        '`base_url` belongs to openai-compatible providers only.',
        {
          fix: 'Remove it, or set `provider: openai-compatible`.',
        },
      )
    case 'const':
    case 'enum': {
      // Reading the head of a document reports these two.
      if (pointer === '/kind' || pointer === '/apiVersion') return undefined
      const allowed = (error.params['allowedValues'] as JsonValue[] | undefined) ?? [
        error.params['allowedValue'] as JsonValue,
      ]
      return notAllowed(file, pointer, allowed.map(String))
    }
    case 'propertyNames': {
      const key = String(error.params['propertyName'])
      const at = pointerTo(pointer, key)
      const allowedNames =
        pointer === '/secrets'
          ? 'A secret name begins with a lower-case letter and has only lower-case letters, digits, `_` and `-`.'
          : 'A tool route is named by a logical id, or by `namespace.*`.'
      return createFinding(
        'doc/schema',
        'error',
        { path: file.source.path, pointer: at, range: file.keySpanOf(at) ?? file.placeOf(pointer).range },
        `"${key}" cannot be a name here. ${allowedNames}`,
      )
    }
    case 'pattern':
      return pointer.endsWith('/secret')
        ? finding(
            `${name} is not a secret name, which begins with a lower-case letter and has only lower-case letters, digits, \`_\` and \`-\`.`,
          )
        : finding(`${name} is not a duration such as \`500ms\`, \`30s\` or \`5m\`.`)
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return finding(`${name} must not be empty.`)
    default:
      return finding(`${name} ${error.message ?? 'is not valid'}.`)
  }
}

const nameOf = (pointer: string): string => formatPointer(pointer) || 'The document'

function wrongType(schema: SchemaName, file: DocumentSpans, pointer: string, wanted: readonly string[]): Diagnostic {
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
      `${name} must be a string, but ${written} without quotes is a ${typeNames[typeof found]}${typeof found === 'number' && String(found) !== written ? ` (${found})` : ''}.`,
      { fix },
    )
  }
  if (wanted.includes('boolean') && typeof found === 'string' && /^(?:yes|no|on|off|y|n)$/i.test(found)) {
    const meant = /^(?:yes|on|y)$/i.test(found)
    return finding('doc/yaml11-boolean', `${name} must be true or false; YAML 1.2 reads \`${found}\` as text.`, {
      fix: replaceScalarFix(place, meant),
    })
  }
  const foundType = found === null ? 'empty' : articleFor(typeNames[typeOf(found)]!)
  const fix = fixForType(schema, file, pointer, wanted, found)
  return finding(
    'doc/schema',
    `${name} must be ${wanted.map((each) => articleFor(typeNames[each] ?? each)).join(' or ')}, but is ${foundType}.`,
    { wrongValue: true, ...(fix !== undefined && { fix }) },
  )
}

/** How the value is written in a wanted type; undefined where the meaning is unclear. */
function fixForType(
  schema: SchemaName,
  file: DocumentSpans,
  pointer: string,
  wanted: readonly string[],
  found: JsonValue | undefined,
): string | FindingFix | undefined {
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
    const wrapper = wanted.includes('object') ? wrapperOf(pointer, found) : undefined
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
  return names.length === 0 ? undefined : `Its keys are ${listKeys(names, 'and')}.`
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

function notAllowed(file: DocumentSpans, pointer: string, allowed: readonly string[]): Diagnostic {
  const found = valueAt(file.root.value, pointer)
  const place = file.placeOf(pointer)
  const near =
    typeof found === 'string' ? (nearestCandidate(found, allowed) ?? completeWord(found, allowed)) : undefined
  const list = allowed.length === 1 ? `\`${allowed[0]}\`` : `one of ${allowed.map((each) => `\`${each}\``).join(', ')}`
  return createFinding(
    'doc/schema',
    'error',
    place,
    `${formatPointer(pointer)} must be ${list}, but is ${JSON.stringify(found)}.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    {
      wrongValue: true,
      ...(near !== undefined
        ? { fix: { ...replaceScalarFix(place, near), ...(isGuess(pointer, found, near) && { unsafe: true }) } }
        : allowed.length === 1 && { fix: `Write ${allowed[0]}.` }),
    },
  )
}

/** Words that decide what is allowed and how carefully: a person must confirm a correction, so `--fix` leaves it out. */
const isGuess = (pointer: string, found: JsonValue | undefined, near: string): boolean =>
  /\/(?:decision\/type|timeout\/default|side_effect_class|on_limit)$/.test(pointer) &&
  !(typeof found === 'string' && lettersOf(found) === lettersOf(near))

const lettersOf = (word: string): string => word.toLowerCase().replaceAll(/[^a-z]/g, '')

const typeNames: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  object: 'mapping',
  array: 'list',
  null: 'empty value',
}
const typeOf = (value: JsonValue | undefined): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
const articleFor = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
