/** Keys that a schema does not know: misspelt, in the wrong place, from another format, or plainly unknown. */
import type { ErrorObject } from 'ajv'
import { distance } from 'fastest-levenshtein'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { moveEdits } from '../edit/insertion.ts'
import { MERGE_KEY, mergedKeysAt, mergeKeyEdits } from '../edit/merge-keys.ts'
import { removalEdits } from '../edit/removal.ts'
import {
  createFinding,
  replaceScalarFix,
  type Diagnostic,
  type FindingPlace,
  type TextEdit,
} from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import { valueAt } from '../../base/json/resolve-pointer.ts'
import { formatPointer } from '../text/pointer.ts'
import { nearestCandidate } from '../text/suggest.ts'
import { commonMistakeAt } from './common-mistakes.ts'
import type { MissingKeys } from './missing-keys.ts'
import { homesOfKey, knownKeysAt, type SchemaName } from './schema-keys.ts'

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
  const parent = error.instancePath
  const key = String(error.params['additionalProperty'])
  const pointer = pointerTo(parent, key)
  const place = { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(parent).range }
  const where = formatPointer(parent) || 'the top level'
  const here = knownKeysAt(schema, parent)
  const near = nearestCandidate(key, here)
  const mistake = commonMistakeAt(schema, parent, key)
  if (mistake !== undefined) {
    if (mistake.meant !== undefined) meant.add(pointerTo(parent, mistake.meant))
    const message = mistake.forbidden
      ? `A tool binding must not set \`${key}\`.`
      : `\`${key}\` is not a key of ${where}.`
    const isHintOnly = mistake.rename !== true || isPresent(file.root.value, parent, mistake.meant!)
    const fix = isHintOnly ? mistake.hint : replaceScalarFix(place, mistake.meant!)
    return createFinding('doc/unknown-key', 'error', place, message, { fix })
  }
  if (key === MERGE_KEY) {
    for (const merged of mergedKeysAt(file, pointer).keys()) meant.add(pointerTo(parent, merged))
    return createFinding('doc/unknown-key', 'error', place, 'Merge keys are not read: YAML 1.2 has none.', {
      fix: { description: 'Write the merged keys out.', edits: mergeKeyEdits(file, pointer) },
    })
  }
  // One letter off is a typing error, wherever else the word may belong.
  const isTypo = near !== undefined && distance(key, near) === 1 && !isPresent(file.root.value, parent, near)
  const elsewhere = isTypo ? [] : homesOfKey(schema, key)
  if (elsewhere.length > 0) {
    // The mapping in which the key belongs is not reported as missing either.
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
          edits: elsewhere.length === 1 ? moveToHome(file, pointer, elsewhere[0]!) : [],
        },
        missing: elsewhere,
      },
    )
  }
  if (near !== undefined && !isPresent(file.root.value, parent, near)) {
    meant.add(pointerTo(parent, near))
    return misspeltKey(place, key, where, near)
  }
  return undefined
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
  const parent = error.instancePath
  const key = String(error.params['additionalProperty'])
  const pointer = pointerTo(parent, key)
  const place = { path: file.source.path, pointer, range: file.keySpanOf(pointer) ?? file.placeOf(parent).range }
  const here = knownKeysAt(schema, parent).map((each) => `\`${each}\``)
  const needs = missing === undefined ? '' : `, which needs ${missing.inWords}`
  return createFinding(
    'doc/unknown-key',
    'error',
    place,
    `\`${key}\` is not a key of ${formatPointer(parent) || 'the top level'}${needs}.`,
    here.length === 0 ? {} : { fix: `Known here: ${here.join(', ')}.` },
  )
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
