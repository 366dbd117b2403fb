/** Text or bytes of a file into authoring documents, with a finding for everything that is wrong with their form. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { API_VERSION, KINDS, type DocumentKind } from '../../spec/document.ts'
import { createFinding, replaceScalarFix, type Diagnostic } from '../text/diagnostic.ts'
import { createDocument, type Document } from '../text/document.ts'
import { pointerTo } from '../text/pointer.ts'
import type { SchemaName } from './schema-keys.ts'
import { checkShape, hasShape } from './shape.ts'
import { misspeltKey } from './unknown-keys.ts'
import { createSource, looseText, type SourceText } from '../text/source.ts'
import { nearestCandidate } from '../text/suggest.ts'
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
   * True for a file that was named: all in it is held to be a document. Else (the default) what neither says
   * `apiVersion: svc/…` nor has one of the four kinds belongs to someone else and is passed over.
   */
  readonly named?: boolean
}

export interface ReadDocuments {
  readonly documents: Document[]
  readonly findings: Diagnostic[]
}

/** Reads the documents of a file. Documents with a wrong shape are among them, with `sound: false`. */
export function readDocuments(file: FileInput, options: ReadOptions = {}): ReadDocuments {
  const { source, findings } = decodeUtf8(file)
  if (source === undefined)
    return { documents: [], findings: options.named || seemsOurs(looseText(file.bytes)) ? findings : [] }
  const reading = readYaml(source)
  if (reading.roots.length === 0 && options.named !== true && !seemsOurs(source.text))
    return { documents: [], findings: [] }
  const documents: Document[] = []
  let ours = options.named === true || reading.roots.length === 0
  for (const [index, root] of reading.roots.entries()) {
    // A `---` with nothing behind it is no document.
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

/** Bytes as UTF-8. No source where they are none. */
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
        // The text of a source has no mark, so whatever is written from it has none.
        fix: { description: RESAVE, edits: [{ path: file.path, range: at.range, text: '' }] },
      }),
    ],
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const RESAVE = 'Save it as UTF-8 without a byte order mark.'

/** Text in another encoding; UTF-16 is told by its byte order mark and can be written anew. */
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
    createDocument({ kind: kind ?? 'Agent', index, value, sound, source, root })
  const version = value['apiVersion']
  if (version === API_VERSION && kind !== undefined && value['kind'] === kind && hasShape(schemaOf(kind), value))
    return { document: create(true), findings: [] }
  const document = create(false)
  if (['apiVersion', 'kind'].every((key) => value[key] === undefined && slipOf(value, key) === undefined))
    return { findings: [nameless(document)] }
  const findings: Diagnostic[] = []
  // Without a kind nothing can be said about the rest.
  if (kind === undefined) {
    const [written, called] = [slipOf(value, 'apiVersion'), slipOf(value, 'kind')]
    if (written !== undefined) findings.push(misspelt(document, written, 'apiVersion'))
    else if (version !== API_VERSION) findings.push(wrongVersion(document, version))
    findings.push(called === undefined ? wrongKind(document, value['kind']) : misspelt(document, called, 'kind'))
    return { findings }
  }
  // A key that was meant to be one of these is told by the shape check.
  if (version !== API_VERSION && !isSaidElsewhere(value)) findings.push(wrongVersion(document, version))
  if (value['kind'] !== kind && slipOf(value, 'kind') === undefined) findings.push(wrongKind(document, value['kind']))
  findings.push(...checkShape(schemaOf(kind), document))
  // What the schema alone refuses may be the business of a rule.
  return { document: findings.length === 0 ? create(true) : document, findings }
}

const schemaOf = (kind: DocumentKind): SchemaName => kind.toLowerCase() as SchemaName

/** The kind that is said, whatever its case. */
function kindOf(value: JsonValue | undefined): DocumentKind | undefined {
  if ((KINDS as readonly unknown[]).includes(value)) return value as DocumentKind
  return typeof value === 'string' ? KINDS.find((kind) => kind.toLowerCase() === value.toLowerCase()) : undefined
}

/** The kind that was surely meant: what is named by its documents is not missed as well. */
function meantKind(value: JsonObject): DocumentKind | undefined {
  const said = value[slipOf(value, 'kind') ?? 'kind']
  const near = typeof said === 'string' ? nearestCandidate(said, KINDS) : undefined
  return kindOf(said) ?? kindOf(near)
}

/** The key that was written in place of one that is missing. */
const slipOf = (value: JsonObject, key: string): string | undefined =>
  Object.hasOwn(value, key)
    ? undefined
    : Object.keys(value).find((each) => !TOP.includes(each) && nearestCandidate(each, TOP) === key)

/** True when `apiVersion` stands under another name. */
const isSaidElsewhere = (value: JsonObject): boolean =>
  slipOf(value, 'apiVersion') !== undefined ||
  (value['apiVersion'] === undefined && Object.values(value).includes(API_VERSION))

const TOP = ['apiVersion', 'kind', 'metadata', 'spec', 'secrets', 'output']

/** What says neither which format it has nor which document it is. */
const nameless = (document: Document): Diagnostic =>
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
  // What is left empty has no place of its own, and a list or mapping is shown by its key.
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
    `kind must be ${LIST}, but is ${JSON.stringify(found)}.${near === undefined ? '' : ` Did you mean "${near}"?`}`,
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

/** For text that no parser reads: does it look like a document of ours? */
const seemsOurs = (text: string): boolean => /^[\s{,]*["']?apiVersion["']?\s*:\s*["']?svc\b/im.test(text)
