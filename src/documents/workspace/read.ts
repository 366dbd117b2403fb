/** Reads a file into authoring documents, with a finding for each fault in their form. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { API_VERSION, type DocumentKind } from '../../spec/document.ts'
import { decodeUtf8, type FileInput } from '../text/decode.ts'
import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import { createDocument, type Document } from '../text/document.ts'
import type { YamlNode } from '../text/node.ts'
import { decodeLoosely, type SourceText } from '../text/source.ts'
import { readYaml } from '../text/yaml.ts'
import { checkHead, isOurs, meantKind, seemsOurs } from './document-head.ts'
import { checkShape, hasShape, type DocumentSchema } from './shape.ts'

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

function readOne(
  source: SourceText,
  root: YamlNode,
  index: number,
): { readonly document?: Document; readonly findings: Diagnostic[] } {
  const { value } = root
  if (!isJsonObject(value)) return { findings: [noMapping(source, root)] }
  const kind = meantKind(value)
  const create = (hasValidShape: boolean): Document =>
    createDocument({ kind: kind ?? 'Agent', index, value, hasValidShape, source, root })
  const isHeadRight = value['apiVersion'] === API_VERSION && kind !== undefined && value['kind'] === kind
  if (isHeadRight && hasShape(schemaOf(kind), value)) return { document: create(true), findings: [] }
  const document = create(false)
  const findings = checkHead(document, kind)
  // Without a kind there is no schema to check against.
  if (kind === undefined) return { findings }
  findings.push(...checkShape(schemaOf(kind), document))
  // The schema may refuse what only a rule reports, such as a limit below its minimum.
  return { document: findings.length === 0 ? create(true) : document, findings }
}

const schemaOf = (kind: DocumentKind): DocumentSchema => kind.toLowerCase() as DocumentSchema

const noMapping = (source: SourceText, { start, end }: YamlNode): Diagnostic =>
  createFinding(
    'doc/schema',
    'error',
    { path: source.path, pointer: '', range: source.span(start, Math.min(end, start + 1)) },
    'A document is a mapping with `apiVersion`, `kind`, `metadata` and `spec`.',
  )
