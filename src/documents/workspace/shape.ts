/**
 * The shape check: schema errors as findings for people, one for each fault, without follow-up noise.
 * Source: authoring format, "Resources and their fields"; lint rules, "From schema errors to messages".
 */
import type { ErrorObject } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { isJsonObject, type JsonValue } from '../../base/json.ts'
import {
  createFinding,
  replaceScalarFix,
  type Diagnostic,
  type TextEdit,
  type FindingFix,
  type FindingPlace,
  type FindingText,
} from '../text/diagnostic.ts'
import { keys } from '../generated/keys.js'
import { bareSchema, habitAt, rewrittenText, wrapValueEdits, wrapperOf } from './common-mistakes.ts'
import { moveOf } from '../edit/insertion.ts'
import { agent, bundle, config, policy, policytest, scenario, tool } from '../generated/validators.js'
import { inWords, pointerTo, segmentsOf } from '../text/pointer.ts'
import { MERGE_KEY, mergedAt, writtenOut } from '../edit/merge-keys.ts'
import { meantVersion } from '../text/reference.ts'
import { nodeAt, removalOf } from '../edit/removal.ts'
import { nearestCandidate } from '../text/suggest.ts'
import type { DocumentSpans } from '../text/document.ts'

export type SchemaName = keyof typeof keys

const validators = { agent, tool, policy, bundle, config, scenario, policytest } satisfies Record<SchemaName, unknown>

/** True when the value has the shape. */
export const hasShape = (schema: SchemaName, value: JsonValue): boolean => validators[schema](value)

export function checkShape(schema: SchemaName, file: DocumentSpans): Diagnostic[] {
  const validate = validators[schema]
  if (validate(file.root.value)) return []
  const errors = relevant(validate.errors ?? [])
  const findings: Diagnostic[] = []
  // Keys that reading the head of a document reports, or that an unknown or misplaced one was surely meant to be: that they are missing is not said again.
  const meant = new Set(['/apiVersion', '/kind'])
  const unknown: ErrorObject[] = []
  const bare = new Set<string>()
  for (const error of errors) {
    if (error.keyword !== 'additionalProperties' || bare.has(error.instancePath)) continue
    const whole = bareSchema(file, error.instancePath, valueAt(file.root.value, error.instancePath))
    if (whole !== undefined) {
      bare.add(error.instancePath)
      findings.push(whole)
      continue
    }
    const found = strayKey(schema, file, error, meant)
    if (found === undefined) unknown.push(error)
    else findings.push(found)
  }
  const lacking = lackingKeys(errors, meant)
  // A key that nobody knows, where one is missing, was surely meant to be that one: both are told in one message.
  const told = new Set(bare)
  for (const error of unknown) {
    const at = error.instancePath
    findings.push(unknownKey(schema, file, error, told.has(at) ? undefined : lacking.get(at)))
    told.add(at)
  }
  for (const [pointer, names] of lacking)
    if (!told.has(pointer))
      findings.push(
        createFinding('doc/schema', 'error', file.placeOf(pointer), `${nameOf(pointer)} needs ${names.inWords}.`, {
          missing: names.keys,
        }),
      )
  for (const error of errors) {
    const found = explain(schema, file, error)
    if (found !== undefined) findings.push(found)
  }
  return findings
}

/** Errors that say something of their own: those inside a branch, or beside a wrong type, only repeat another one. */
function relevant(errors: readonly ErrorObject[]): ErrorObject[] {
  const pathsOf = (keyword: string): ReadonlySet<string> =>
    new Set(errors.filter((error) => error.keyword === keyword).map((error) => error.instancePath))
  const [unwanted, mistyped] = [pathsOf('false schema'), pathsOf('type')]
  return errors.filter((error) => {
    if (error.keyword === 'if' || (error.keyword === 'pattern' && error.propertyName !== undefined)) return false
    if (/\/oneOf\/\d+\//.test(error.schemaPath)) return false
    if (unwanted.has(error.instancePath)) return error.keyword === 'false schema'
    if (error.keyword !== 'type' && mistyped.has(error.instancePath)) return false
    // `limits/non-positive` says it for every limit.
    return error.keyword !== 'minimum' || !error.instancePath.startsWith('/spec/limits/')
  })
}

interface LackingKeys {
  readonly keys: readonly string[]
  readonly inWords: string
}

/** What each mapping lacks, without what a stray key was meant to be. */
function lackingKeys(errors: readonly ErrorObject[], meant: ReadonlySet<string>): Map<string, LackingKeys> {
  const lacking = new Map<string, string[]>()
  const choices = new Map<string, LackingKeys>()
  for (const error of errors) {
    const { keyword, instancePath } = error
    const isMeant = (key: string): boolean => meant.has(pointerTo(instancePath, key))
    if (isChoice(error)) {
      const names = choiceAt(instancePath, error)
      if (!names.some(isMeant))
        choices.set(instancePath, { keys: names, inWords: `exactly one of ${listOf(names, 'or')}` })
    }
    if (keyword !== 'required' || conditional(error) || isMeant(missingProperty(error))) continue
    lacking.set(instancePath, [...(lacking.get(instancePath) ?? []), missingProperty(error)])
  }
  return new Map([
    ...choices,
    ...[...lacking].map(([at, keys]) => [at, { keys, inWords: listOf(keys, 'and') }] as const),
  ])
}

/** Of two alternatives none is there. */
const isChoice = ({ keyword, params }: ErrorObject): boolean =>
  keyword === 'oneOf' && (params['passingSchemas'] as number[] | null) === null

/** Required because of another value, which the message names. */
const conditional = (error: ErrorObject): boolean => ['base_url', 'header'].includes(missingProperty(error))

const missingProperty = (error: ErrorObject): string => String(error.params['missingProperty'])

function explain(schema: SchemaName, file: DocumentSpans, error: ErrorObject): Diagnostic | undefined {
  const pointer = error.instancePath
  const name = nameOf(pointer)
  const say = (message: string, saying?: FindingText): Diagnostic =>
    createFinding('doc/schema', 'error', file.placeOf(pointer), message, saying)
  switch (error.keyword) {
    case 'additionalProperties':
      return undefined
    case 'type':
      return wrongType(schema, file, pointer, [error.params['type'] as string | string[]].flat())
    case 'required':
      if (missingProperty(error) === 'base_url')
        return say('`base_url` is missing: an openai-compatible provider has no address of its own.', {
          fix: 'Add the absolute http(s) URL of its chat-completion endpoint.',
          missing: ['base_url'],
        })
      if (missingProperty(error) === 'header')
        return say('`header` is missing: with `scheme: header` the secret is sent in the header that is named.', {
          missing: ['header'],
        })
      return undefined
    case 'oneOf':
      if (isChoice(error)) return undefined
      return say(`${name} has more than one of ${listOf(choiceAt(pointer, error), 'or')}.`, {
        fix: 'Keep one of them.',
      })
    case 'not':
      return say('`temperature` and `top_p` must not both be set.', { fix: 'Keep one of them.' })
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
      // Dispatch speaks of these.
      if (pointer === '/kind' || pointer === '/apiVersion') return undefined
      const allowed = (error.params['allowedValues'] as JsonValue[] | undefined) ?? [
        error.params['allowedValue'] as JsonValue,
      ]
      return notAllowed(file, pointer, allowed.map(String))
    }
    case 'propertyNames': {
      const key = String(error.params['propertyName'])
      const at = pointerTo(pointer, key)
      const what =
        pointer === '/secrets'
          ? 'A secret name begins with a lower-case letter and has only lower-case letters, digits, `_` and `-`.'
          : 'A tool route is named by a logical id, or by `namespace.*`.'
      return createFinding(
        'doc/schema',
        'error',
        { path: file.source.path, pointer: at, range: file.keySpanOf(at) ?? file.placeOf(pointer).range },
        `"${key}" cannot be a name here. ${what}`,
      )
    }
    case 'pattern':
      return pointer.endsWith('/secret')
        ? say(
            `${name} is no secret name: it begins with a lower-case letter and has only lower-case letters, digits, \`_\` and \`-\`.`,
          )
        : say(`${name} is no duration such as \`500ms\`, \`30s\` or \`5m\`.`)
    case 'minLength':
    case 'minItems':
    case 'minProperties':
      return say(`${name} must not be empty.`)
    default:
      return say(`${name} ${error.message ?? 'is not valid'}.`)
  }
}

const nameOf = (pointer: string): string => inWords(pointer) || 'The document'

const listOf = (names: readonly string[], word: 'and' | 'or'): string => {
  const quoted = names.map((name) => `\`${name}\``)
  return quoted.length === 1 ? quoted[0]! : `${quoted.slice(0, -1).join(', ')} ${word} ${quoted.at(-1)}`
}

/** The properties of which exactly one is wanted, by where they stand. */
function choiceAt(pointer: string, error: ErrorObject): readonly string[] {
  if (error.schemaPath.includes('route')) return ['command', 'http', 'mock']
  if (pointer.endsWith('/instructions')) return ['ref', 'text']
  return ['ref', 'inline']
}

function wrongType(schema: SchemaName, file: DocumentSpans, pointer: string, wanted: readonly string[]): Diagnostic {
  const found = valueAt(file.root.value, pointer)
  const name = nameOf(pointer)
  const place = file.placeOf(pointer)
  const say = (rule: string, message: string, saying?: FindingText): Diagnostic =>
    createFinding(rule, 'error', place, message, saying)
  const written = file.source.text.slice(place.range.start.offset, place.range.end.offset)
  if (wanted.includes('string') && (typeof found === 'number' || typeof found === 'boolean')) {
    const meant = pointer === '/metadata/version' ? (meantVersion(written) ?? written) : written
    const fix: FindingFix = {
      description: `Write "${meant}" in quotes.`,
      edits: [{ path: place.path, range: place.range, text: JSON.stringify(meant) }],
    }
    return say(
      'doc/unquoted-scalar',
      `${name} must be a text, but ${written} without quotes is a ${typeNames[typeof found]}${typeof found === 'number' && String(found) !== written ? ` (${found})` : ''}.`,
      { fix },
    )
  }
  if (wanted.includes('boolean') && typeof found === 'string' && /^(?:yes|no|on|off|y|n)$/i.test(found)) {
    const meant = /^(?:yes|on|y)$/i.test(found)
    return say('doc/yaml11-boolean', `${name} must be true or false; YAML 1.2 reads \`${found}\` as text.`, {
      fix: replaceScalarFix(place, meant),
    })
  }
  const what = found === null ? 'empty' : articleFor(typeNames[typeOf(found)]!)
  const fix = otherType(schema, file, pointer, wanted, found)
  return say(
    'doc/schema',
    `${name} must be ${wanted.map((each) => articleFor(typeNames[each] ?? each)).join(' or ')}, but is ${what}.`,
    { wrongValue: true, ...(fix !== undefined && { fix }) },
  )
}

/** How a value is written as one of the wanted type; undefined where nobody can tell what is meant. */
function otherType(
  schema: SchemaName,
  file: DocumentSpans,
  pointer: string,
  wanted: readonly string[],
  found: JsonValue | undefined,
): string | FindingFix | undefined {
  const place = file.placeOf(pointer)
  const range = file.spanOf(pointer) ?? place.range
  const written = file.source.text.slice(range.start.offset, range.end.offset)
  const instead = (text: string, description: string): FindingFix => ({
    description,
    edits: written.includes('\n') ? [] : [{ path: place.path, range, text }],
  })
  if (typeof found === 'string') {
    const value = unquoted(found, wanted)
    if (value !== undefined) return replaceScalarFix(place, value, `Write ${found} without quotes.`)
    const rewritten = rewrittenText(pointer, found)
    if (rewritten !== undefined) {
      const { text, description, ...rest } = rewritten
      const isFlowText = !file.source.path.endsWith('.json')
      return { description, edits: isFlowText ? instead(text, description).edits : [], ...rest }
    }
    const wrapper = wanted.includes('object') ? wrapperOf(pointer, found) : undefined
    if (wrapper !== undefined)
      return { description: `Write it under \`${wrapper}\`.`, edits: wrapValueEdits(file, pointer, wrapper) }
    if (wanted.includes('array') && found.trim() !== '')
      return instead(
        `[${/^["']|^[\w.@/-]+$/.test(written) ? written : JSON.stringify(found)}]`,
        'Write it as the only item of a list.',
      )
  }
  if (Array.isArray(found) && wanted.includes('string')) {
    const only = nodeAt(file.root, [...segmentsOf(pointer), '0'])
    if (found.length !== 1 || typeof found[0] !== 'string' || only === undefined || only.alias) return undefined
    return instead(file.source.text.slice(only.start, only.end), 'Write the text without brackets.')
  }
  if (wanted.includes('array') && isJsonObject(found))
    return 'Write each entry as an item of a list, with `-` before it.'
  if (!wanted.includes('object')) return undefined
  if (pointer === '/spec/conditions' && Array.isArray(found)) return 'Write the comparisons under `all` or `any`.'
  if (pointer === '/spec/conditions')
    return 'Write each comparison as `{field: args.NAME, op: gt, value: 100}`, several of them under `all` or `any`.'
  const names = keysAt(keys[schema], pointer)
  return names.length === 0 ? undefined : `Its keys are ${listOf(names, 'and')}.`
}

/** The number or truth value that a text spells, where one of these is wanted. */
function unquoted(text: string, wanted: readonly string[]): number | boolean | undefined {
  if (wanted.includes('boolean') && /^(?:true|false)$/.test(text)) return text === 'true'
  const isNumber = wanted.includes('number') ? /^-?\d{1,15}(?:\.\d+)?$/ : /^-?\d{1,15}$/
  return (wanted.includes('number') || wanted.includes('integer')) && isNumber.test(text) ? Number(text) : undefined
}

/** The one word that begins so, or has it as a part: `irreversible` is `irreversible_action`, `approval` `require_approval`. */
function begun(written: string, allowed: readonly string[]): string | undefined {
  const lower = written.toLowerCase()
  const found = allowed.filter(
    (each) => written.length > 3 && (each.startsWith(lower) || each.split('_').includes(lower)),
  )
  return found.length === 1 ? found[0] : undefined
}

function notAllowed(file: DocumentSpans, pointer: string, allowed: readonly string[]): Diagnostic {
  const found = valueAt(file.root.value, pointer)
  const place = file.placeOf(pointer)
  const near = typeof found === 'string' ? (nearestCandidate(found, allowed) ?? begun(found, allowed)) : undefined
  const list = allowed.length === 1 ? `\`${allowed[0]}\`` : `one of ${allowed.map((each) => `\`${each}\``).join(', ')}`
  return createFinding(
    'doc/schema',
    'error',
    place,
    `${inWords(pointer)} must be ${list}, but is ${JSON.stringify(found)}.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
    {
      wrongValue: true,
      ...(near !== undefined
        ? { fix: { ...replaceScalarFix(place, near), ...(isGuess(pointer, found, near) && { unsafe: true }) } }
        : allowed.length === 1 && { fix: `Write ${allowed[0]}.` }),
    },
  )
}

/** What may be done, and how carefully, is for a person to say: another word than was written is offered, and not put in by itself. */
const isGuess = (pointer: string, found: JsonValue | undefined, near: string): boolean =>
  /\/(?:decision\/type|timeout\/default|side_effect_class|on_limit)$/.test(pointer) &&
  !(typeof found === 'string' && lettersOf(found) === lettersOf(near))

const lettersOf = (word: string): string => word.toLowerCase().replaceAll(/[^a-z]/g, '')

/** Undefined for a key of which nothing is known. */
function strayKey(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
  meant: Set<string>,
): Diagnostic | undefined {
  const parent = error.instancePath
  const key = String(error.params['additionalProperty'])
  const pointer = pointerTo(parent, key)
  const place = { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(parent).range }
  const where = inWords(parent) || 'the top level'
  const table = keys[schema]
  const here = keysAt(table, parent)
  const near = nearestCandidate(key, here)
  const habit = habitAt(schema, parent, key)
  if (habit !== undefined) {
    if (habit.meant !== undefined) meant.add(pointerTo(parent, habit.meant))
    const message = habit.forbidden ? `A tool binding must not set \`${key}\`.` : `\`${key}\` is no key of ${where}.`
    const renamed = habit.rename !== true || present(file.root.value, parent, habit.meant!)
    const fix = renamed ? habit.say : replaceScalarFix(place, habit.meant!)
    return createFinding('doc/unknown-key', 'error', place, message, { fix })
  }
  if (key === MERGE_KEY) {
    for (const merged of mergedAt(file, pointer).keys()) meant.add(pointerTo(parent, merged))
    return createFinding('doc/unknown-key', 'error', place, 'Merge keys are not read: YAML 1.2 has none.', {
      fix: { description: 'Write the merged keys out.', edits: writtenOut(file, pointer) },
    })
  }
  // One letter off is a slip of the hand, wherever else the word may belong.
  const slip = near !== undefined && distance(key, near) === 1 && !present(file.root.value, parent, near)
  const elsewhere = slip ? [] : homesOf(table, key)
  if (elsewhere.length > 0) {
    // The mapping that it belongs in is not missed either.
    for (const home of elsewhere)
      for (let at = `/${home.replaceAll('.', '/')}`; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) meant.add(at)
    const homes = elsewhere.map((home) => `\`${home.replaceAll('.*', '[]')}\``)
    return createFinding(
      'doc/misplaced-key',
      'error',
      place,
      `\`${key}\` does not belong in ${where} but ${elsewhere.some((home) => !home.includes('.')) ? 'at the top level, beside `spec`' : `at ${homes.join(' or ')}`}.`,
      {
        fix: {
          description: `Move it to ${homes[0]}.`,
          edits: elsewhere.length === 1 ? moveTo(file, pointer, elsewhere[0]!) : [],
        },
        missing: elsewhere,
      },
    )
  }
  if (near !== undefined && !present(file.root.value, parent, near)) {
    meant.add(pointerTo(parent, near))
    return misspeltKey(place, key, where, near)
  }
  return undefined
}

/** @param where the mapping in words */
export const misspeltKey = (place: FindingPlace, key: string, where: string, meant: string): Diagnostic =>
  createFinding('doc/unknown-key', 'error', place, `\`${key}\` is no key of ${where}. Did you mean \`${meant}\`?`, {
    fix: replaceScalarFix(place, meant),
    meant,
  })

/** @param lacking what the mapping that it stands in needs */
function unknownKey(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
  lacking: LackingKeys | undefined,
): Diagnostic {
  const parent = error.instancePath
  const key = String(error.params['additionalProperty'])
  const pointer = pointerTo(parent, key)
  const place = { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(parent).range }
  const here = keysAt(keys[schema], parent).map((each) => `\`${each}\``)
  const needs = lacking === undefined ? '' : `, which needs ${lacking.inWords}`
  return createFinding(
    'doc/unknown-key',
    'error',
    place,
    `\`${key}\` is no key of ${inWords(parent) || 'the top level'}${needs}.`,
    here.length === 0 ? {} : { fix: `Known here: ${here.join(', ')}.` },
  )
}

/** Edits that move a key to its home; a `*` on the way is the item in which the key stands. */
function moveTo(file: DocumentSpans, pointer: string, home: string): TextEdit[] {
  const from = segmentsOf(pointer)
  const to = home.split('.').map((segment, at) => (segment === '*' ? (from[at] ?? '*') : segment))
  const isBelow = home
    .split('.')
    .every((segment, at) => segment !== '*' || to.slice(0, at).every((each, before) => each === from[before]))
  if (!isBelow) return []
  const target = to.reduce((parent, segment) => pointerTo(parent, segment), '')
  return moveOf(file, pointer, target, removalOf(file, pointer, { moved: true }), to.length === 1 ? 'spec' : undefined)
}

/** At most this many homes: a key such as `description` that lives everywhere is told nothing by a list. */
const FEW = 3

function homesOf(table: Readonly<Record<string, readonly string[]>>, key: string): string[] {
  const homes = Object.entries(table)
    .filter(([, members]) => members.includes(key))
    .map(([path]) => (path === '' ? key : `${path}.${key}`))
  const depth = (path: string): number => path.split('.').length
  const shallowest = Math.min(...homes.map(depth))
  const best = homes.filter((home) => depth(home) === shallowest)
  return best.length <= FEW ? best : []
}

function keysAt(table: Readonly<Record<string, readonly string[]>>, pointer: string): readonly string[] {
  const segments = segmentsOf(pointer)
  const path = Object.keys(table).find((candidate) => {
    const parts = candidate === '' ? [] : candidate.split('.')
    return parts.length === segments.length && parts.every((part, index) => part === '*' || part === segments[index])
  })
  return path === undefined ? [] : table[path]!
}

const present = (value: JsonValue, parent: string, key: string): boolean => {
  const holder = valueAt(value, parent)
  return isJsonObject(holder) && Object.hasOwn(holder, key)
}

export function valueAt(value: JsonValue, pointer: string): JsonValue | undefined {
  let here: JsonValue | undefined = value
  for (const segment of segmentsOf(pointer)) {
    if (Array.isArray(here)) here = here[Number(segment)]
    else if (isJsonObject(here) && Object.hasOwn(here, segment)) here = here[segment]
    else return undefined
  }
  return here
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'truth value',
  object: 'mapping',
  array: 'list',
  null: 'empty value',
}
const typeOf = (value: JsonValue | undefined): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
const articleFor = (noun: string): string => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
