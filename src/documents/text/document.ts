/** An authoring document with the place of everything in it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { idOf, type AnyDocument, type DocumentKind } from '../../spec/document.ts'
import { partOfText } from '../../policy/condition/when.ts'
import type { FindingPlace } from './diagnostic.ts'
import { pointerTo, segmentsOf } from '../../base/json/pointer.ts'
import type { SourceText, TextSpan } from './source.ts'
import { memberOf, type YamlMember, type YamlNode } from './node.ts'

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
  /** True for a scalar written without quotes. */
  readonly plain: boolean
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
  readonly #known = new Map<string, CachedValues>()

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
    return this.#valuesAt(path).found
  }

  texts(path: string): readonly FoundText[] {
    const known = this.#valuesAt(path)
    return (known.texts ??= textsOf(known.found))
  }

  #valuesAt(path: string): CachedValues {
    const segments = split(path)
    if (!mayExist(this.root.value, segments)) return NO_VALUES
    let known = this.#known.get(path)
    if (known === undefined) {
      const found = find(this.source, this.root, segments)
      known = found.length === 0 ? NO_VALUES : { found, texts: undefined }
      this.#known.set(path, known)
    }
    return known
  }

  #span(node: { readonly start: number; readonly end: number }): TextSpan {
    return this.source.span(node.start, node.end)
  }
}

/** Cached values of a path. */
interface CachedValues {
  readonly found: readonly FoundValue[]
  /** Set on the first call of `texts`. */
  texts: readonly FoundText[] | undefined
}

const NO_VALUES: CachedValues = { found: [], texts: [] }

const textsOf = (found: readonly FoundValue[]): readonly FoundText[] =>
  found.every(isText) ? found : found.filter(isText)

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

/** The texts at a dotted path without their places: the same as `DocumentSpans.texts`, but cheaper. */
export function textsAt(value: JsonValue, path: string): readonly string[] {
  const segments = split(path)
  let here: JsonValue | undefined = value
  let depth = 0
  // Most paths lead nowhere: that shows in the first steps.
  for (; depth < segments.length && segments[depth] !== '*'; depth++) {
    if (typeof here !== 'object' || here === null) return NO_TEXTS
    here = (here as JsonObject)[segments[depth]!]
  }
  if (here === undefined) return NO_TEXTS
  const texts: string[] = []
  collect(here, segments, depth, texts)
  return texts
}

const NO_TEXTS: readonly string[] = []

function collect(value: JsonValue | undefined, path: readonly string[], depth: number, texts: string[]): void {
  if (depth === path.length) {
    if (typeof value === 'string' && value !== '') texts.push(value)
    return
  }
  if (typeof value !== 'object' || value === null) return
  const segment = path[depth]!
  if (segment !== '*') collect((value as JsonObject)[segment], path, depth + 1, texts)
  else if (Array.isArray(value)) for (let at = 0; at < value.length; at++) collect(value[at], path, depth + 1, texts)
  else for (const key in value) collect(value[key], path, depth + 1, texts)
}

const isText = (found: FoundValue): found is FoundText => typeof found.value === 'string' && found.value !== ''

/** The document as its kind's type; undefined for another kind, or where the shape is wrong. */
export function asKind<K extends DocumentKind>(
  document: Document,
  kind: K,
): Extract<AnyDocument, { readonly kind: K }> | undefined {
  // The shape check has proven the type.
  return document.kind === kind && document.hasValidShape
    ? (document.value as unknown as Extract<AnyDocument, { readonly kind: K }>)
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

/** Follows a pointer as far as there are values. `rest` counts the segments left over. */
function walk(
  root: YamlNode,
  pointer: string,
): { readonly node: YamlNode; readonly member: YamlMember | undefined; readonly rest: number } {
  const segments = segmentsOf(pointer)
  let node = root
  let member: YamlMember | undefined
  for (let at = 0; at < segments.length; at++) {
    const segment = segments[at]!
    const next = memberOf(node, segment)
    const child =
      next?.node ?? (node.items !== undefined && /^\d+$/.test(segment) ? node.items[Number(segment)] : undefined)
    if (child === undefined) return { node, member, rest: segments.length - at }
    node = child
    member = next
  }
  return { node, member, rest: 0 }
}

/** A value that computes its place on demand: most values have no finding. */
class LazyFound implements FoundValue {
  readonly path: string
  readonly value: JsonValue
  readonly key: string
  readonly plain: boolean
  readonly pointer: string
  readonly #source: SourceText
  readonly #node: YamlNode
  readonly #member: YamlMember | undefined

  constructor(source: SourceText, node: YamlNode, member: YamlMember | undefined, key: string, pointer: string) {
    this.path = source.path
    this.value = node.value
    this.key = key
    this.plain = node.plain
    this.pointer = pointer
    this.#source = source
    this.#node = node
    this.#member = member
  }

  get range(): TextSpan {
    return this.#source.span(this.#node.start, this.#node.end)
  }

  get keyRange(): TextSpan {
    const shown = this.#member ?? this.#node
    return this.#source.span(shown.start, shown.end)
  }
}

const paths = new Map<string, readonly string[]>()

/** The segments of a dotted path. Cached: rules read the same few paths of every document. */
function split(path: string): readonly string[] {
  const known = paths.get(path)
  if (known !== undefined) return known
  const segments = path.split('.')
  // Paths with an index are read once, so caching them would only cost memory.
  if (!/\d/.test(path)) paths.set(path, segments)
  return segments
}

/** False where the first two steps of a path lead nowhere, as for most paths that rules read. */
function mayExist(value: JsonValue, path: readonly string[]): boolean {
  const below = memberValue(value, path[0])
  return below !== undefined && memberValue(below, path[1]) !== undefined
}

/** The member of a value; the value itself for `*` and beyond the end. */
const memberValue = (value: JsonValue, segment: string | undefined): JsonValue | undefined =>
  segment === undefined || segment === '*' ? value : (value as JsonObject | null)?.[segment]

function find(source: SourceText, root: YamlNode, path: readonly string[]): readonly FoundValue[] {
  const found: FoundValue[] = []
  visit(source, path, 0, root, undefined, '', '', found)
  return found
}

function visit(
  source: SourceText,
  path: readonly string[],
  depth: number,
  node: YamlNode,
  member: YamlMember | undefined,
  key: string,
  pointer: string,
  found: FoundValue[],
): void {
  const segment = path[depth]
  if (segment === undefined) {
    found.push(new LazyFound(source, node, member, key, pointer))
    return
  }
  const { members, items } = node
  const below = depth + 1
  if (members !== undefined) {
    if (segment === '*') {
      for (let at = 0; at < members.length; at++) {
        const each = members[at]!
        visit(source, path, below, each.node, each, each.key, pointerTo(pointer, each.key), found)
      }
      return
    }
    const next = memberOf(node, segment)
    if (next !== undefined) visit(source, path, below, next.node, next, segment, pointerTo(pointer, segment), found)
  } else if (items !== undefined) {
    if (segment === '*') {
      for (let index = 0; index < items.length; index++)
        visit(source, path, below, items[index]!, undefined, String(index), pointerTo(pointer, index), found)
      return
    }
    const item = /^\d+$/.test(segment) ? items[Number(segment)] : undefined
    if (item !== undefined) visit(source, path, below, item, undefined, segment, pointerTo(pointer, segment), found)
  }
}
