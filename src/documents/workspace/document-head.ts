/** The head of a document: `apiVersion` and `kind`, and what was meant where they are wrong. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { API_VERSION, KINDS, type DocumentKind } from '../../spec/document.ts'
import { createFinding, replaceScalarFix, type Diagnostic } from '../text/diagnostic.ts'
import type { Document } from '../text/document.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import { misspeltKey } from './unknown-keys.ts'
import { joinWords } from '../../base/text/text-parts.ts'

/** True for a value that declares our `apiVersion`, or has a kind of ours and looks like a document. */
export function isOurs(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { apiVersion, kind } = value
  // Whose signature counts is said beside a bundle, not in it: svc trust check reads it.
  if (kind === 'Trust') return false
  if (isFormat(apiVersion)) return true
  for (const key in value) if (isFormat(value[key]) && nearestCandidate(key, TOP) === 'apiVersion') return true
  return kindOf(kind) !== undefined && (isJsonObject(value['metadata']) || isJsonObject(value['spec']))
}

const isFormat = (value: JsonValue | undefined): boolean => typeof value === 'string' && /^svc\b/i.test(value)

/** True for unparsable text that looks like one of our documents. */
export const seemsOurs = (text: string): boolean => /^[\s{,]*["']?apiVersion["']?\s*:\s*["']?svc\b/im.test(text)

/** The kind that was probably meant, so that references to the document still resolve. */
export function meantKind(value: JsonObject): DocumentKind | undefined {
  const written = value['kind'] ?? value[misspellingOf(value, 'kind') ?? 'kind']
  const isText = typeof written === 'string'
  return kindOf(written) ?? (isText ? kindOf(nearestCandidate(written, KINDS)) : undefined)
}

/** The kind as written, in any case. */
function kindOf(value: JsonValue | undefined): DocumentKind | undefined {
  if ((KINDS as readonly unknown[]).includes(value)) return value as DocumentKind
  return typeof value === 'string' ? KINDS.find((kind) => kind.toLowerCase() === value.toLowerCase()) : undefined
}

/** The faults in `apiVersion` and `kind` that the shape check does not report. @param kind the one that is meant */
export function checkHead(document: Document, kind: DocumentKind | undefined): Diagnostic[] {
  const { value } = document
  const [versionKey, kindKey] = [misspellingOf(value, 'apiVersion'), misspellingOf(value, 'kind')]
  const hasVersion = value['apiVersion'] !== undefined || versionKey !== undefined
  const hasKind = value['kind'] !== undefined || kindKey !== undefined
  if (!hasVersion && !hasKind) return [missingHead(document)]
  const versionFault = value['apiVersion'] === API_VERSION ? [] : [wrongVersion(document, value['apiVersion'])]
  // Without a kind there is no shape check, which would report misspelt keys.
  if (kind === undefined)
    return [
      ...(versionKey === undefined ? versionFault : [misspelt(document, versionKey, 'apiVersion')]),
      kindKey === undefined ? wrongKind(document, value['kind']) : misspelt(document, kindKey, 'kind'),
    ]
  return [
    ...(hasVersionElsewhere(value) ? [] : versionFault),
    ...(value['kind'] === kind || kindKey !== undefined ? [] : [wrongKind(document, value['kind'])]),
  ]
}

/** The misspelt form of a missing key, if there is one. */
const misspellingOf = (value: JsonObject, key: string): string | undefined =>
  Object.hasOwn(value, key)
    ? undefined
    : Object.keys(value).find((each) => !TOP.includes(each) && nearestCandidate(each, TOP) === key)

/** True when the version stands under another key than `apiVersion`. */
const hasVersionElsewhere = (value: JsonObject): boolean =>
  misspellingOf(value, 'apiVersion') !== undefined ||
  (value['apiVersion'] === undefined && Object.values(value).includes(API_VERSION))

const TOP = ['apiVersion', 'kind', 'metadata', 'spec', 'secrets', 'output']

/** For a document without `apiVersion` and `kind`. */
const missingHead = (document: Document): Diagnostic =>
  createFinding(
    'doc/kind-unknown',
    'error',
    document.placeOf('/kind'),
    `\`apiVersion: ${API_VERSION}\` and \`kind\` are missing: ${LIST}.`,
    {
      fix: `Begin with \`apiVersion: ${API_VERSION}\` and \`kind: ${KINDS.join('|')}\`.`,
      missing: ['apiVersion', 'kind'],
    },
  )

function misspelt(document: Document, written: string, meant: string): Diagnostic {
  const pointer = pointerTo('', written)
  const place = { path: document.path, pointer, range: document.keySpanOf(pointer) ?? document.placeOf(pointer).range }
  return misspeltKey(place, written, 'the top level', meant)
}

const LIST = joinWords(KINDS, 'or')

function wrongVersion(document: Document, found: JsonValue | undefined): Diagnostic {
  const place = document.placeOf('/apiVersion')
  if (found === undefined)
    return createFinding('doc/api-version', 'error', place, `\`apiVersion: ${API_VERSION}\` is missing.`, {
      fix: `Add \`apiVersion: ${API_VERSION}\`.`,
    })
  // An empty value has no range to replace, and the place of a list or mapping is its key.
  const isWritten = place.range.end.offset > place.range.start.offset && (typeof found !== 'object' || found === null)
  return createFinding(
    'doc/api-version',
    'error',
    place,
    `apiVersion must be \`${API_VERSION}\`, but is ${JSON.stringify(found)}.`,
    {
      fix: isWritten ? replaceScalarFix(place, API_VERSION) : `Write ${API_VERSION}.`,
    },
  )
}

function wrongKind(document: Document, found: JsonValue | undefined): Diagnostic {
  const place = document.placeOf('/kind')
  if (found === undefined) return createFinding('doc/kind-unknown', 'error', place, `\`kind\` is missing: ${LIST}.`)
  const near = typeof found === 'string' ? nearestCandidate(found, KINDS) : undefined
  return createFinding(
    'doc/kind-unknown',
    'error',
    place,
    `kind must be ${LIST}, but is ${JSON.stringify(found)}.${didYouMean(near)}`,
    {
      ...(near !== undefined && { fix: replaceScalarFix(place, near) }),
    },
  )
}
