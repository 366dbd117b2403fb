/** An authoring document with the place of everything in it. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { idOf, type AnyDocument, type DocumentKind } from '../../spec/document.ts'
import { partOfText } from '../../policy/condition/when.ts'
import type { FindingPlace } from './diagnostic.ts'
import { pointerTo, segmentsOf } from './pointer.ts'
import type { SourceText, TextSpan } from './source.ts'
import { memberOf, type YamlMember, type YamlNode } from './node.ts'

export interface DocumentIdentity {
  /** `namespace.name`. */
  readonly id: string
  readonly namespace: string
  readonly name: string
  readonly version: string
}

/** A value found in a document: what stands there, under which key, where. */
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

/** Where the values of a text stand. */
export interface DocumentSpans {
  readonly source: SourceText
  readonly root: YamlNode
  /** Where the value at a pointer stands; undefined where there is none. */
  spanOf(pointer: string): TextSpan | undefined
  /** Where the key of the value at a pointer stands; the value's own place in a list. */
  keySpanOf(pointer: string): TextSpan | undefined
  /** Place of the value at a pointer or, where it is absent, of the nearest mapping or list that should hold it. */
  placeOf(pointer: string): FindingPlace
  /** Values at a dotted path, `*` for every member, a number for one item of a list: `secrets.*`, `spec.tools.0.ref`. Empty where nothing stands. */
  at(path: string): readonly FoundValue[]
  /** The same, of which those that are texts and not empty. */
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
  readonly sound: boolean
  /** Absent when namespace, name or version is missing or no text. */
  readonly identity?: DocumentIdentity
  /** What a function says of this document, worked out the first time it is asked for: documents do not change. */
  once<T>(compute: (document: Document) => T): T
}

export interface DocumentParts {
  readonly kind: DocumentKind
  readonly index: number
  readonly value: JsonObject
  readonly sound: boolean
  readonly source: SourceText
  readonly root: YamlNode
}

export const createDocument = (parts: DocumentParts): Document => new AuthoringDocument(parts)

export const createSpans = (source: SourceText, root: YamlNode): DocumentSpans => new DocumentText(source, root)

class DocumentText implements DocumentSpans {
  readonly source: SourceText
  readonly root: YamlNode
  // Rules ask for the same places again and again.
  readonly #known = new Map<string, KnownNode>()

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
    // A whole mapping underlined helps nobody: its key says which one it is.
    const shown = found.rest === 0 && !isCollection(found.node) ? found.node : (found.member ?? head(found.node))
    return { path: this.source.path, pointer, range: this.#span(shown) }
  }

  /** Where a part of a text stands; the whole text where it is written with escapes or on several lines. */
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
    return this.#look(path).found
  }

  texts(path: string): readonly FoundText[] {
    const known = this.#look(path)
    return (known.texts ??= textsOf(known.found))
  }

  #look(path: string): KnownNode {
    const segments = split(path)
    if (!begins(this.root.value, segments)) return NOTHING
    let known = this.#known.get(path)
    if (known === undefined) {
      const found = find(this.source, this.root, segments)
      known = found.length === 0 ? NOTHING : { found, texts: undefined }
      this.#known.set(path, known)
    }
    return known
  }

  #span(node: { readonly start: number; readonly end: number }): TextSpan {
    return this.source.span(node.start, node.end)
  }
}

/** What stands at a path. */
interface KnownNode {
  readonly found: readonly FoundValue[]
  /** Set when somebody has asked for them. */
  texts: readonly FoundText[] | undefined
}

const NOTHING: KnownNode = { found: [], texts: [] }

const textsOf = (found: readonly FoundValue[]): readonly FoundText[] =>
  found.every(isText) ? found : found.filter(isText)

class AuthoringDocument extends DocumentText implements Document {
  readonly kind: DocumentKind
  readonly path: string
  readonly index: number
  readonly value: JsonObject
  readonly sound: boolean
  declare readonly identity?: DocumentIdentity
  readonly #worked = new Map<unknown, unknown>()

  constructor({ source, root, kind, index, value, sound }: DocumentParts) {
    super(source, root)
    this.kind = kind
    this.path = source.path
    this.index = index
    this.value = value
    this.sound = sound
    const identity = identityOf(value)
    if (identity !== undefined) this.identity = identity
  }

  once<T>(compute: (document: Document) => T): T {
    const before = this.#worked.get(compute)
    // What is kept under a function is what it returned, which may be nothing.
    if (before !== undefined || this.#worked.has(compute)) return before as T
    const value = compute(this)
    this.#worked.set(compute, value)
    return value
  }
}

/** The texts at a dotted path, as `Spans.texts` finds them, for who does not ask where they stand. */
export function textsAt(value: JsonValue, path: string): readonly string[] {
  const segments = split(path)
  let here: JsonValue | undefined = value
  let depth = 0
  // Most of what is looked for is not there: that is seen at its first steps.
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
  return document.kind === kind && document.sound
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

/** First key of a mapping, first line of a list: enough to show which one. */
function head(node: YamlNode): { readonly start: number; readonly end: number } {
  const first = node.members?.[0]
  return first ?? { start: node.start, end: Math.min(node.end, node.start + 1) }
}

/** Goes as far along the pointer as there are values. `rest` counts the segments that lead nowhere. */
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

/** A value with its place, which is worked out when it is asked for: most values that are looked at are right. */
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

/** The segments of a dotted path: rules ask for few paths, of every document. */
function split(path: string): readonly string[] {
  const known = paths.get(path)
  if (known !== undefined) return known
  const segments = path.split('.')
  // Paths that are made of pointers are asked for once.
  if (!/\d/.test(path)) paths.set(path, segments)
  return segments
}

/** False where the first two steps of a path lead nowhere: most of what rules ask for is not there. */
function begins(value: JsonValue, path: readonly string[]): boolean {
  const below = stepped(value, path[0])
  return below !== undefined && stepped(below, path[1]) !== undefined
}

/** The value itself where any member will do. */
const stepped = (value: JsonValue, segment: string | undefined): JsonValue | undefined =>
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
