/** An authoring document with the place of everything in it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import { idOf, type AnyDocument, type DocumentKind } from '../../spec/document.ts'
import { partOfText } from '../../policy/condition/when.ts'
import type { FindingPlace } from './diagnostic.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import type { SourceText, TextSpan } from './source.ts'
import { itemAt, memberOf, type YamlMember, type YamlNode } from './node.ts'
import { onlyItem } from '../../base/values/collections.ts'

export interface DocumentIdentity {
  /** `namespace.name`. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly version: string
}

/** A value found in a document, with its key and its place. */
export interface FoundValue extends FindingPlace {
  readonly value: JsonValue
  /** Key of the mapping, or index of the list, under which it stands. */
  readonly key: string
  /** Place of the key; of the value in a list. */
  readonly keyRange: TextSpan
}

export interface FoundText extends FoundValue {
  readonly value: string
}

/** Finds values of a YAML or JSON text, and their places. */
export interface DocumentSpans {
  readonly source: SourceText
  readonly root: YamlNode
  /** Span of the value at a pointer; undefined where there is none. */
  spanOf(pointer: string): TextSpan | undefined
  /** Span of the key of the value at a pointer; the span of the value itself in a list. */
  keySpanOf(pointer: string): TextSpan | undefined
  /** Place of the value at a pointer or, where it is absent, of the nearest mapping or list that should hold it. */
  placeOf(pointer: string): FindingPlace
  /** Values at a dotted path, `*` for every member, a number for one item of a list: `secrets.*`, `spec.tools.0.ref`. Empty where there is none. */
  at(path: string): readonly FoundValue[]
  /** Non-empty texts at a dotted path, as for `at`. */
  texts(path: string): readonly FoundText[]
  /** As `texts`, with empty ones: for rules that say which texts are right. */
  allTexts(path: string): readonly FoundText[]
}

export interface Document extends DocumentSpans {
  readonly kind: DocumentKind
  /** Relative to the workspace, `/` separated. */
  readonly path: string
  /** 0 for the first document of the file. */
  readonly index: number
  readonly value: JsonObject
  /** True when the shape is that of its kind: `value` may then be read as the type of `spec/document.ts`. */
  readonly hasValidShape: boolean
  /** Absent when namespace, name or version is missing or not a text. */
  readonly identity?: DocumentIdentity
  /** Computes a value about this document once per function: documents do not change. */
  memoize<T>(compute: (document: Document) => T): T
}

/** A document with an id: references can mean it. */
export interface IdentifiedDocument extends Document {
  readonly identity: DocumentIdentity
}

export const isIdentified = (document: Document): document is IdentifiedDocument => document.identity !== undefined

export interface DocumentParts {
  readonly kind: DocumentKind
  readonly index: number
  readonly value: JsonObject
  readonly hasValidShape: boolean
  readonly source: SourceText
  readonly root: YamlNode
}

export const createDocument = (parts: DocumentParts): Document => new AuthoringDocument(parts)

export const createSpans = (source: SourceText, root: YamlNode): DocumentSpans => new DocumentText(source, root)

class DocumentText implements DocumentSpans {
  readonly source: SourceText
  readonly root: YamlNode
  // Many rules read the same paths.
  readonly #known = new Map<string, readonly FoundValue[]>()

  constructor(source: SourceText, root: YamlNode) {
    this.source = source
    this.root = root
  }

  spanOf(pointer: string): TextSpan | undefined {
    const found = walk(this.root, pointer)
    return found.rest === 0 ? this.#span(found.node) : undefined
  }

  keySpanOf(pointer: string): TextSpan | undefined {
    const found = walk(this.root, pointer)
    return found.rest === 0 ? this.#span(found.member ?? found.node) : undefined
  }

  placeOf(pointer: string): FindingPlace {
    const part = pointer.includes('@') ? this.#partOfText(pointer) : undefined
    if (part !== undefined) return { path: this.source.path, pointer, range: part }
    const found = walk(this.root, pointer)
    // Shows the key of a mapping or list: underlining all of its lines would not help.
    const shown = found.rest === 0 && !isCollection(found.node) ? found.node : (found.member ?? head(found.node))
    return { path: this.source.path, pointer, range: this.#span(shown) }
  }

  /** Span of a part of a text; of the whole text where it has escapes or several lines. */
  #partOfText(pointer: string): TextSpan | undefined {
    const textNode = (at: string): YamlNode | undefined => {
      const { node, rest } = walk(this.root, at)
      return rest === 0 && typeof node.value === 'string' ? node : undefined
    }
    const part = partOfText(pointer, (at) => textNode(at)?.value as string | undefined)
    const node = part && textNode(part.pointer)
    if (part === undefined || node === undefined) return undefined
    const written = this.source.text.slice(node.start, node.end)
    const from = [0, 1].find((quote) => written.slice(quote, written.length - quote) === node.value)
    if (from === undefined) return this.#span(node)
    const { start, end } = part.range
    const last = node.start + from + Math.max(start + 1, end)
    return this.#span({ start: Math.min(node.start + from + start, node.end - 1), end: Math.min(last, node.end) })
  }

  at(path: string): readonly FoundValue[] {
    const known = this.#known.get(path)
    if (known !== undefined) return known
    const found = find(this.source, this.root, path.split('.'))
    if (found.length > 0) this.#known.set(path, found)
    return found
  }

  texts(path: string): readonly FoundText[] {
    return this.allTexts(path).filter(({ value }) => value !== '')
  }

  allTexts(path: string): readonly FoundText[] {
    return this.at(path).filter(isText)
  }

  #span(node: { readonly start: number; readonly end: number }): TextSpan {
    return this.source.span(node.start, node.end)
  }
}

class AuthoringDocument extends DocumentText implements Document {
  readonly kind: DocumentKind
  readonly path: string
  readonly index: number
  readonly value: JsonObject
  readonly hasValidShape: boolean
  declare readonly identity?: DocumentIdentity
  readonly #memoized = new Map<unknown, unknown>()

  constructor({ source, root, kind, index, value, hasValidShape: sound }: DocumentParts) {
    super(source, root)
    this.kind = kind
    this.path = source.path
    this.index = index
    this.value = value
    this.hasValidShape = sound
    const identity = identityOf(value)
    if (identity !== undefined) this.identity = identity
  }

  memoize<T>(compute: (document: Document) => T): T {
    const before = this.#memoized.get(compute)
    // The stored value may be undefined.
    if (before !== undefined || this.#memoized.has(compute)) return before as T
    const value = compute(this)
    this.#memoized.set(compute, value)
    return value
  }
}

const isText = (found: FoundValue): found is FoundText => typeof found.value === 'string'

/** The mapping below some keys, read without computing places; empty where there is none. */
export function mappingIn({ value }: Document, ...keys: readonly string[]): JsonObject {
  let here = value
  for (const key of keys) {
    const below = here[key]
    if (!isJsonObject(below)) return NO_MEMBERS
    here = below
  }
  return here
}

const NO_MEMBERS: JsonObject = {}

/** The document as its kind's type; undefined for another kind, or where the shape is wrong. */
export function asKind<K extends DocumentKind>(
  document: Document,
  kind: K,
): Extract<AnyDocument, { readonly kind: K }> | undefined {
  // The shape check has proven the type.
  return document.kind === kind && document.hasValidShape
    ? fromJson<Extract<AnyDocument, { readonly kind: K }>>(document.value)
    : undefined
}

function identityOf(value: JsonObject): DocumentIdentity | undefined {
  const { metadata } = value
  if (!isJsonObject(metadata)) return undefined
  const { namespace, name, version } = metadata
  if (typeof namespace !== 'string' || typeof name !== 'string' || typeof version !== 'string') return undefined
  return { id: idOf({ namespace, name }), namespace, name, version }
}

const isCollection = (node: YamlNode): boolean => node.members !== undefined || node.items !== undefined

/** First key of a mapping, first character of a list: enough to identify it. */
function head(node: YamlNode): { readonly start: number; readonly end: number } {
  const first = node.members?.[0]
  return first ?? { start: node.start, end: Math.min(node.end, node.start + 1) }
}

/** A value with its pointer, the last segment of that, and the member of the mapping that holds it. */
interface NodeBelow {
  readonly node: YamlNode
  readonly pointer: string
  readonly segment: string
  readonly member?: YamlMember
}

/** The values that one segment leads to: one at most, but all of them for `*`. */
function nodesBelow({ node, pointer }: NodeBelow, segment: string): readonly NodeBelow[] {
  const at = (child: YamlNode, key: string, member?: YamlMember): NodeBelow => ({
    node: child,
    pointer: pointerTo(pointer, key),
    segment: key,
    ...(member && { member }),
  })
  if (segment === '*')
    return node.members !== undefined
      ? node.members.map((member) => at(member.node, member.key, member))
      : (node.items ?? []).map((item, index) => at(item, String(index)))
  const member = memberOf(node, segment)
  const child = member?.node ?? itemAt(node, segment)
  return child === undefined ? NOWHERE : [at(child, segment, member)]
}

const NOWHERE: readonly NodeBelow[] = []

/** Follows a pointer as far as there are values. `rest` counts the segments left over. */
function walk(
  root: YamlNode,
  pointer: string,
): { readonly node: YamlNode; readonly member: YamlMember | undefined; readonly rest: number } {
  const segments = segmentsOf(pointer)
  let node = root
  let member: YamlMember | undefined
  for (const [at, segment] of segments.entries()) {
    const next = memberOf(node, segment)
    const child = next?.node ?? itemAt(node, segment)
    if (child === undefined) return { node, member, rest: segments.length - at }
    node = child
    member = next
  }
  return { node, member, rest: 0 }
}

function find(source: SourceText, root: YamlNode, path: readonly string[]): readonly FoundValue[] {
  let found: readonly NodeBelow[] = [{ node: root, segment: '', pointer: '' }]
  for (const segment of path) {
    const only = onlyItem(found)
    found = only ? nodesBelow(only, segment) : found.flatMap((above) => nodesBelow(above, segment))
    // Most paths lead nowhere.
    if (found.length === 0) return []
  }
  return found.map(({ node, member = node, segment, pointer }) => ({
    path: source.path,
    pointer,
    value: node.value,
    key: segment,
    // Computed on demand: most values have no finding.
    get range() {
      return source.span(node.start, node.end)
    },
    get keyRange() {
      return source.span(member.start, member.end)
    },
  }))
}
