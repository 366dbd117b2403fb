/** Reads a file into authoring documents, with a finding for each fault in their form. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { API_VERSION, KINDS, type DocumentKind } from '../../spec/document.ts'
import { createFinding, replaceScalarFix, type Diagnostic } from '../text/diagnostic.ts'
import { createDocument, type Document } from '../text/document.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import type { SchemaName } from './schema-keys.ts'
import { checkShape, hasShape } from './shape.ts'
import { misspeltKey } from './unknown-keys.ts'
import { createSource, decodeLoosely, type SourceText } from '../text/source.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'
import type { YamlNode } from '../text/node.ts'
import { readYaml } from '../text/yaml.ts'

export interface FileInput {
  /** Relative to the workspace, `/` separated. */
  readonly path: string
  readonly text?: string
  readonly bytes?: Uint8Array
}

export interface ReadOptions {
  /**
   * True for a file that was named: everything in it must be a document. By default a document without `apiVersion: svc/…` and
   * without one of the four kinds belongs to another tool and is skipped.
   */
  readonly named?: boolean
}

export interface ReadDocuments {
  readonly documents: Document[]
  readonly findings: Diagnostic[]
}

/** Reads the documents of a file. Those with a wrong shape are among them, with `hasValidShape: false`. */
export function readDocuments(file: FileInput, options: ReadOptions = {}): ReadDocuments {
  const { source, findings } = decodeUtf8(file)
  if (source === undefined)
    return { documents: [], findings: options.named || seemsOurs(decodeLoosely(file.bytes)) ? findings : [] }
  const reading = readYaml(source)
  if (reading.roots.length === 0 && options.named !== true && !seemsOurs(source.text))
    return { documents: [], findings: [] }
  const documents: Document[] = []
  let ours = options.named === true || reading.roots.length === 0
  for (const [index, root] of reading.roots.entries()) {
    // Nothing follows this `---`.
    if (root.value === null && reading.roots.length > 1) continue
    if (!options.named && !isOurs(root.value)) continue
    ours = true
    const read = readOne(source, root, index)
    findings.push(...read.findings)
    if (read.document !== undefined) documents.push(read.document)
  }
  return ours ? { documents, findings: [...reading.findings, ...findings] } : { documents: [], findings: [] }
}

export interface ReadValues {
  readonly values: readonly JsonValue[]
  readonly findings: readonly Diagnostic[]
}

/** Reads a YAML or JSON file that is no authoring document (scenario, model script): its values, one for each `---`. */
export function readValues(file: FileInput): ReadValues {
  const { source, findings } = decodeUtf8(file)
  if (source === undefined) return { values: [], findings }
  const reading = readYaml(source)
  return { values: reading.roots.map((root) => root.value), findings: [...findings, ...reading.findings] }
}

/** Decodes UTF-8; no source where the bytes are not UTF-8. */
export function decodeUtf8(file: FileInput): { readonly source?: SourceText; readonly findings: Diagnostic[] } {
  let text = file.text
  if (text === undefined) {
    try {
      text = UTF8.decode(file.bytes)
    } catch {
      return { findings: [notUtf8(file)] }
    }
  }
  if (!text.startsWith('\uFEFF')) return { source: createSource(file.path, text), findings: [] }
  const at = { path: file.path, pointer: '', range: createSource(file.path, '').span(0, 0) }
  return {
    source: createSource(file.path, text.slice(1)),
    findings: [
      createFinding('doc/bom', 'warning', at, 'The file begins with a byte order mark.', {
        // The text of a source has no mark, so any edit of it removes the mark.
        fix: { description: RESAVE, edits: [{ path: file.path, range: at.range, text: '' }] },
      }),
    ],
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const RESAVE = 'Save it as UTF-8 without a byte order mark.'

/** Text in another encoding. UTF-16 is recognised by its byte order mark and can be converted. */
function notUtf8({ path, bytes }: FileInput): Diagnostic {
  const seen = createSource(path, new TextDecoder().decode(bytes))
  const at = { path, pointer: '', range: seen.span(0, 0) }
  const text = bytes && utf16(bytes)
  if (text === undefined) return createFinding('doc/not-utf8', 'error', at, 'The file is not UTF-8.', { fix: RESAVE })
  return createFinding('doc/not-utf8', 'error', at, 'The file is UTF-16, not UTF-8.', {
    fix: { description: RESAVE, edits: [{ path, range: seen.span(0, seen.text.length), text }] },
  })
}

function utf16(bytes: Uint8Array): string | undefined {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : undefined
  try {
    return encoding && new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function readOne(
  source: SourceText,
  root: YamlNode,
  index: number,
): { readonly document?: Document; readonly findings: Diagnostic[] } {
  const value = root.value
  if (!isJsonObject(value))
    return {
      findings: [
        createFinding(
          'doc/schema',
          'error',
          { path: source.path, pointer: '', range: source.span(root.start, Math.min(root.end, root.start + 1)) },
          'A document is a mapping with `apiVersion`, `kind`, `metadata` and `spec`.',
        ),
      ],
    }
  const kind = kindOf(value['kind']) ?? meantKind(value)
  const create = (sound: boolean): Document =>
    createDocument({ kind: kind ?? 'Agent', index, value, hasValidShape: sound, source, root })
  const version = value['apiVersion']
  if (version === API_VERSION && kind !== undefined && value['kind'] === kind && hasShape(schemaOf(kind), value))
    return { document: create(true), findings: [] }
  const document = create(false)
  if (['apiVersion', 'kind'].every((key) => value[key] === undefined && misspellingOf(value, key) === undefined))
    return { findings: [missingHead(document)] }
  const findings: Diagnostic[] = []
  // Without a kind there is no schema to check against.
  if (kind === undefined) {
    const [written, called] = [misspellingOf(value, 'apiVersion'), misspellingOf(value, 'kind')]
    if (written !== undefined) findings.push(misspelt(document, written, 'apiVersion'))
    else if (version !== API_VERSION) findings.push(wrongVersion(document, version))
    findings.push(called === undefined ? wrongKind(document, value['kind']) : misspelt(document, called, 'kind'))
    return { findings }
  }
  // The shape check reports a key that was meant as `apiVersion` or `kind`.
  if (version !== API_VERSION && !hasVersionElsewhere(value)) findings.push(wrongVersion(document, version))
  if (value['kind'] !== kind && misspellingOf(value, 'kind') === undefined)
    findings.push(wrongKind(document, value['kind']))
  findings.push(...checkShape(schemaOf(kind), document))
  // The schema may refuse what only a rule reports, such as a limit below its minimum.
  return { document: findings.length === 0 ? create(true) : document, findings }
}

const schemaOf = (kind: DocumentKind): SchemaName => kind.toLowerCase() as SchemaName

/** The kind as written, in any case. */
function kindOf(value: JsonValue | undefined): DocumentKind | undefined {
  if ((KINDS as readonly unknown[]).includes(value)) return value as DocumentKind
  return typeof value === 'string' ? KINDS.find((kind) => kind.toLowerCase() === value.toLowerCase()) : undefined
}

/** The kind that was probably meant, so that references to the document still resolve. */
function meantKind(value: JsonObject): DocumentKind | undefined {
  const written = value[misspellingOf(value, 'kind') ?? 'kind']
  const near = typeof written === 'string' ? nearestCandidate(written, KINDS) : undefined
  return kindOf(written) ?? kindOf(near)
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

const LIST = `${KINDS.slice(0, -1).join(', ')} or ${KINDS.at(-1)}`

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

function isOurs(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false
  const { apiVersion, kind } = value
  if (isFormat(apiVersion)) return true
  for (const key in value) if (isFormat(value[key]) && nearestCandidate(key, TOP) === 'apiVersion') return true
  return kindOf(kind) !== undefined && (isJsonObject(value['metadata']) || isJsonObject(value['spec']))
}

const isFormat = (value: JsonValue | undefined): boolean => typeof value === 'string' && /^svc\b/i.test(value)

/** True for unparsable text that looks like one of our documents. */
const seemsOurs = (text: string): boolean => /^[\s{,]*["']?apiVersion["']?\s*:\s*["']?svc\b/im.test(text)
