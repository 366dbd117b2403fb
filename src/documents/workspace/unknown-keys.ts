/** Keys that a schema does not know: misspelt, in the wrong place, from another format, or plainly unknown. */
import type { ErrorObject } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { moveEdits } from '../edit/insertion.ts'
import { isMergeKey, mergedKeysAt } from '../text/merge-keys.ts'
import { removalEdits } from '../edit/removal.ts'
import {
  createFinding,
  replaceScalarFix,
  type Diagnostic,
  type FindingPlace,
  type TextEdit,
} from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { memberOf, nodeAt } from '../text/node.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { formatPointer } from '../text/pointer.ts'
import { nearestCandidate } from '../text/suggest.ts'
import { commonMistakeAt } from './common-mistakes.ts'
import type { MissingKeys } from './missing-keys.ts'
import { homesOfKey, knownKeysAt, type SchemaName } from './schema-keys.ts'
import { onlyItem } from '../../base/values/collections.ts'

/** A key that its mapping does not know. */
interface UnknownKey {
  readonly key: string
  /** Pointer of the mapping. */
  readonly parent: string
  readonly pointer: string
  /** Place of the key. */
  readonly place: FindingPlace
  /** The mapping in words. */
  readonly where: string
}

function readUnknownKey(file: DocumentSpans, error: ErrorObject): UnknownKey {
  const parent = error.instancePath
  const key = String(error.params['additionalProperty'])
  const pointer = pointerTo(parent, key)
  const place = { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(parent).range }
  return { key, parent, pointer, place, where: formatPointer(parent) || 'the top level' }
}

/**
 * True for a merge key, which reading the text has reported.
 * @param meant gets the pointers of the keys that it was to add
 */
export function readMergeKey(file: DocumentSpans, error: ErrorObject, meant: Set<string>): boolean {
  const { parent, pointer, key } = readUnknownKey(file, error)
  const holder = nodeAt(file.root, segmentsOf(parent))
  const member = holder && memberOf(holder, key)
  if (member === undefined || !isMergeKey(file.source, member)) return false
  for (const merged of mergedKeysAt(file, pointer).keys()) meant.add(pointerTo(parent, merged))
  return true
}

/**
 * The finding for a key whose meaning can be guessed; undefined for any other.
 * @param meant gets the pointers of the keys that were meant, so that they are not reported as missing
 */
export function explainUnknownKey(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
  meant: Set<string>,
): Diagnostic | undefined {
  const unknown = readUnknownKey(file, error)
  const { key, parent, place, where } = unknown
  const near = nearestCandidate(key, knownKeysAt(schema, parent))
  const mistake = commonMistakeAt(schema, parent, key)
  if (mistake !== undefined) {
    if (mistake.meant !== undefined) meant.add(pointerTo(parent, mistake.meant))
    const message = mistake.forbidden
      ? `A tool binding must not set \`${key}\`.`
      : `\`${key}\` is not a key of ${where}.`
    const renamed = mistake.rename === true ? mistake.meant : undefined
    const isHintOnly = renamed === undefined || isPresent(file.root.value, parent, renamed)
    const fix = isHintOnly ? mistake.hint : replaceScalarFix(place, renamed)
    return createFinding('doc/unknown-key', 'error', place, message, { fix })
  }
  // One letter off is a typing error, wherever else the word may belong.
  const isTypo = near !== undefined && distance(key, near) === 1 && !isPresent(file.root.value, parent, near)
  const homes = isTypo ? [] : homesOfKey(schema, key)
  if (homes.length > 0) {
    // The mapping in which the key belongs is not reported as missing either.
    for (const home of homes)
      for (let at = `/${home.replaceAll('.', '/')}`; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) meant.add(at)
    return misplacedKey(file, unknown, homes)
  }
  if (near !== undefined && !isPresent(file.root.value, parent, near)) {
    meant.add(pointerTo(parent, near))
    return misspeltKey(place, key, where, near)
  }
  return undefined
}

/** @param homes dotted paths where the key belongs */
function misplacedKey(
  file: DocumentSpans,
  { key, pointer, place, where }: UnknownKey,
  homes: readonly string[],
): Diagnostic {
  const names = homes.map((home) => `\`${home.replaceAll('.*', '[]')}\``)
  const isTopLevel = homes.some((home) => !home.includes('.'))
  const there = isTopLevel ? 'at the top level, beside `spec`' : `at ${names.join(' or ')}`
  const home = onlyItem(homes)
  const edits = home === undefined ? [] : moveToHome(file, pointer, home)
  return createFinding('doc/misplaced-key', 'error', place, `\`${key}\` does not belong in ${where} but ${there}.`, {
    fix: { description: `Move it to ${names[0]}.`, edits },
    missing: homes,
  })
}

/** @param where the mapping in words, for the message */
export const misspeltKey = (place: FindingPlace, key: string, where: string, meant: string): Diagnostic =>
  createFinding('doc/unknown-key', 'error', place, `\`${key}\` is not a key of ${where}. Did you mean \`${meant}\`?`, {
    fix: replaceScalarFix(place, meant),
    meant,
  })

/** @param missing keys that the mapping around it lacks */
export function unknownKey(
  schema: SchemaName,
  file: DocumentSpans,
  error: ErrorObject,
  missing: MissingKeys | undefined,
): Diagnostic {
  const { key, parent, place, where } = readUnknownKey(file, error)
  const here = knownKeysAt(schema, parent).map((each) => `\`${each}\``)
  const needs = missing === undefined ? '' : `, which needs ${missing.inWords}`
  const fix = here.length === 0 ? {} : { fix: `Known here: ${here.join(', ')}.` }
  return createFinding('doc/unknown-key', 'error', place, `\`${key}\` is not a key of ${where}${needs}.`, fix)
}

/** Edits that move a key to where it belongs; `*` in that path is the list item in which the key stands. */
function moveToHome(file: DocumentSpans, pointer: string, home: string): TextEdit[] {
  const from = segmentsOf(pointer)
  const to = home.split('.').map((segment, at) => (segment === '*' ? (from[at] ?? '*') : segment))
  const isBelow = home
    .split('.')
    .every((segment, at) => segment !== '*' || to.slice(0, at).every((each, before) => each === from[before]))
  if (!isBelow) return []
  const target = to.reduce((parent, segment) => pointerTo(parent, segment), '')
  return moveEdits(
    file,
    pointer,
    target,
    removalEdits(file, pointer, { moved: true }),
    to.length === 1 ? 'spec' : undefined,
  )
}

const isPresent = (value: JsonValue, parent: string, key: string): boolean => {
  const holder = valueAt(value, parent)
  return isJsonObject(holder) && Object.hasOwn(holder, key)
}
