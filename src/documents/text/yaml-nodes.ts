/** Builds the nodes of YAML documents from the events of the parser, and checks limits, keys, numbers and aliases. */
import {
  EVENT_ID,
  type AliasEvent,
  type DocumentEvent,
  type Event,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { shortenText } from '../../base/text/cut-text.ts'
import { isExactNumber } from '../../base/json/exact-number.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { createFinding, type Diagnostic, type FindingText } from './diagnostic.ts'
import { endOfCollection, toScalarNode } from './event-text.ts'
import type { YamlMember, YamlNode } from './node.ts'
import type { SourceText } from './source.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Maximum nesting, aliases expanded. */
export const MAX_NESTING = 64
/** Maximum keys of a mapping. */
const MAX_KEYS = 10_000
/** Maximum ratio of nodes with aliases expanded to nodes as written. */
const MAX_EXPANSION = 100

export const TOO_DEEP = `Nested deeper than ${MAX_NESTING} levels.`

/** A limit is exceeded; the last finding says which. The rest of the text is not read. */
export class YamlLimitExceeded extends Error {}

/** A value that begins with two braces. Only the first is reported, because the others have the same cause. */
export class UnfilledTemplate extends Error {
  readonly start: number
  constructor(start: number) {
    super()
    this.start = start
  }
}

/** A node with its cost, aliases expanded: the nodes in it, including itself, and the levels below it. */
interface BuiltNode {
  readonly node: YamlNode
  readonly size: number
  readonly depth: number
}

/** Reads the events once, from the first to the last; the parser limits the nesting of what is written. */
export class YamlNodeBuilder {
  readonly findings: Diagnostic[] = []
  readonly #source: SourceText
  readonly #events: readonly Event[]
  /** Index of the next event. */
  #at = 0
  /** Open mappings and lists. */
  #level = 0
  /** Nodes of the document so far, as written. */
  #written = 0
  #anchors = new Map<string, BuiltNode>()
  /** Anchors of open mappings and lists. */
  readonly #openAnchors: string[] = []

  constructor(source: SourceText, events: readonly Event[]) {
    this.#source = source
    this.#events = events
  }

  /**
   * The roots of all documents.
   * @throws YamlLimitExceeded, UnfilledTemplate
   */
  roots(): YamlNode[] {
    const roots: YamlNode[] = []
    while (this.#at < this.#events.length) roots.push(this.#document(this.#next() as DocumentEvent))
    return roots
  }

  #next(): Event {
    return expectDefined(this.#events[this.#at++], 'the parser closes every document and collection that it opens')
  }

  #document({ directives }: DocumentEvent): YamlNode {
    for (const directive of directives)
      if (directive.kind === 'yaml' && directive.version !== '1.2')
        this.#report([0, 0], `Documents are YAML 1.2; the file says ${directive.version}.`, 'Remove the %YAML line.')
    this.#anchors = new Map()
    this.#written = 0
    const { node: root, size } = this.#read(this.#next(), 0)
    if (size > MAX_EXPANSION * this.#written)
      this.#stop(
        [root.start, root.start + 1],
        `Its aliases expand to more than ${MAX_EXPANSION} times what is written.`,
      )
    this.#next() // the end of the document
    return root
  }

  /** @param empty offset of an empty value */
  #read(event: Event, empty: number): BuiltNode {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return this.#scalar(event, empty)
      case EVENT_ID.MAPPING:
        return this.#mapping(event)
      case EVENT_ID.SEQUENCE:
        return this.#sequence(event)
      default:
        return this.#alias(event as AliasEvent)
    }
  }

  /** Reads a member of an open mapping or list. */
  #readMember(event: Event, empty: number): BuiltNode {
    const built = this.#read(event, empty)
    if (this.#level + built.depth > MAX_NESTING) this.#stop([built.node.start, built.node.end], TOO_DEEP)
    return built
  }

  #mapping(event: MappingEvent): BuiltNode {
    const members: YamlMember[] = []
    const value: JsonObject = {}
    return this.#collection(event, (add) => {
      let last = event.start + 1
      for (let next = this.#next(); next.type !== EVENT_ID.POP; next = this.#next()) {
        const name = add(this.#readMember(next, last))
        const key = this.#keyOf(name, event)
        const { start, end } = name
        const first = Object.hasOwn(value, key) ? members.find((each) => each.key === key) : undefined
        if (first) this.#reportTwin(first, name)
        const node = add(this.#readMember(this.#next(), end))
        last = node.end
        if (first) continue
        members.push({ key, start, end, node })
        defineMember(value, key, node.value)
        if (members.length > MAX_KEYS) this.#stop([start, end], `More than ${MAX_KEYS} keys in one mapping.`)
      }
      return { start: event.start, end: endOfCollection(this.#source.text, event, last), value, members }
    })
  }

  #sequence(event: SequenceEvent): BuiltNode {
    const items: YamlNode[] = []
    const value: JsonValue[] = []
    return this.#collection(event, (add) => {
      let last = event.start + 1
      for (let next = this.#next(); next.type !== EVENT_ID.POP; next = this.#next()) {
        const node = add(this.#readMember(next, last))
        last = node.end
        items.push(node)
        value.push(node.value)
      }
      return { start: event.start, end: endOfCollection(this.#source.text, event, last), value, items }
    })
  }

  /** @param build reads the members, and adds each to the cost of the collection */
  #collection(
    event: MappingEvent | SequenceEvent,
    build: (add: (member: BuiltNode) => YamlNode) => YamlNode,
  ): BuiltNode {
    this.#countWritten(event)
    const anchor = event.anchorStart < 0 ? undefined : this.#anchorOf(event)
    if (anchor !== undefined) {
      // The anchor now refers to this incomplete node: an alias inside it would be endless.
      this.#anchors.delete(anchor)
      this.#openAnchors.push(anchor)
    }
    this.#level++
    let size = 1
    let depth = 0
    const node = build((member) => {
      size += member.size
      depth = Math.max(depth, member.depth + 1)
      return member.node
    })
    this.#level--
    const built = { node, size, depth }
    if (anchor !== undefined) {
      this.#openAnchors.pop()
      this.#anchors.set(anchor, built)
    }
    return built
  }

  #scalar(event: ScalarEvent, empty: number): BuiltNode {
    this.#countWritten(event)
    const node = this.#toWellFormed(toScalarNode(this.#source.text, event))
    if (typeof node.value === 'number') this.#checkNumber(node)
    if (event.anchorStart >= 0) this.#anchors.set(this.#anchorOf(event), { node, size: 1, depth: 0 })
    return { node: node.start < 0 ? { ...node, start: empty, end: empty } : node, size: 1, depth: 0 }
  }

  #alias(event: AliasEvent): BuiltNode {
    this.#written++
    const name = this.#anchorOf(event)
    const [start, end] = [event.anchorStart - 1, event.anchorEnd]
    const named = this.#anchors.get(name)
    if (named !== undefined) return { ...named, node: { ...named.node, start, end, alias: true } }
    this.#report(
      [start, end],
      this.#openAnchors.includes(name)
        ? `"*${name}" stands inside what it names.`
        : `No anchor "&${name}" stands before.`,
    )
    return { node: { start, end, value: null, alias: true }, size: 1, depth: 0 }
  }

  /** `1: x` has the key "1": keys are strings, even if they look like numbers. */
  #keyOf({ start, end, value, members, items }: YamlNode, { start: parent }: MappingEvent): string {
    if (members !== undefined && start === parent + 1) throw new UnfilledTemplate(parent)
    if (members !== undefined || items !== undefined) this.#report([start, end], 'A key must be a string.')
    return typeof value === 'string' ? value : this.#source.text.slice(start, end)
  }

  #anchorOf({ anchorStart, anchorEnd }: { readonly anchorStart: number; readonly anchorEnd: number }): string {
    return this.#source.text.slice(anchorStart, anchorEnd)
  }

  #countWritten({ tagStart, tagEnd }: ScalarEvent | MappingEvent | SequenceEvent): void {
    this.#written++
    if (tagStart >= 0)
      this.#report(
        [tagStart, tagEnd],
        `The tag "${this.#source.text.slice(tagStart, tagEnd)}" is not read: documents are plain data.`,
        'Remove the tag and write the value itself.',
      )
  }

  /** A file is UTF-8, which has no halves of pairs, but an escape can name one. */
  #toWellFormed(node: YamlNode): YamlNode {
    if (typeof node.value !== 'string' || node.value.isWellFormed()) return node
    this.#report(
      [node.start, node.end],
      'An escape in this text is one half of a surrogate pair, which is no character.',
      'Write the character itself, or both halves of its pair.',
    )
    return { ...node, value: node.value.toWellFormed() }
  }

  #checkNumber({ start, end }: YamlNode): void {
    const written = this.#source.text.slice(start, end)
    if (/^[-+]?\.(inf|nan)$/i.test(written))
      this.#report([start, end], `"${written}" is not a number that JSON can represent.`)
    else if (!isExactNumber(written))
      this.findings.push(
        yamlFinding(
          this.#source,
          'doc/number-range',
          [start, end],
          `The number ${shortenText(written, 40)} cannot be represented exactly.`,
          { fix: 'Put the number in quotes if the field accepts a string.' },
        ),
      )
  }

  #reportTwin({ key, ...first }: YamlMember, { start, end }: YamlNode): void {
    const { path } = this.#source
    this.findings.push(
      yamlFinding(this.#source, 'doc/duplicate-key', [start, end], `The key "${key}" is written twice.`, {
        fix: 'Merge the two.',
        related: [{ path, range: this.#source.span(first.start, first.end), message: 'first here' }],
      }),
    )
  }

  #report(place: OffsetRange, message: string, fix?: string): void {
    this.findings.push(yamlFinding(this.#source, 'doc/syntax', place, message, fix === undefined ? {} : { fix }))
  }

  #stop(place: OffsetRange, message: string): never {
    this.findings.push(yamlFinding(this.#source, 'doc/too-large', place, message))
    throw new YamlLimitExceeded()
  }
}

/** Start and end, offsets in the text. */
export type OffsetRange = readonly [start: number, end: number]

export const yamlFinding = (
  source: SourceText,
  rule: string,
  [start, end]: OffsetRange,
  message: string,
  details?: FindingText,
): Diagnostic =>
  createFinding(rule, 'error', { path: source.path, pointer: '', range: source.span(start, end) }, message, details)

/** Sets an own member, `__proto__` too: an assignment would change the object's prototype instead. */
function defineMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}
