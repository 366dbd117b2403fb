/**
 * The one reader of YAML and JSON, for lint, compile and publish, so that no two parts can read a document differently.
 * YAML 1.2 core schema; no tags, no merge keys; a hostile text is an ordinary finding.
 * Source: security, S10 and S26; bundles, section 2; performance, "What works", 7.
 */
import {
  COLLECTION_STYLE,
  CORE_SCHEMA,
  EVENT_ID,
  SCALAR_STYLE,
  YAMLException,
  getScalarValue,
  parseEvents,
  type AliasEvent,
  type Event,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { jsonDepth, type JsonObject, type JsonValue } from '../base/json.ts'
import { diagnostic, type Diagnostic } from './diagnostic.ts'
import type { Source } from './source.ts'
import { jsonFault, stopOf, yamlFault } from './text-fault.ts'

/** Bytes of a file. */
export const MAX_FILE_BYTES = 1024 * 1024
/** Nested collections, aliases followed. */
export const MAX_NESTING = 64
/** Keys of one mapping. */
const MAX_KEYS = 10_000
/** Nodes after aliases are followed, for each node that is written. */
const MAX_EXPANSION = 100

/** A value and where it stands. Offsets are into the source's text. */
export interface Node {
  readonly start: number
  readonly end: number
  readonly value: JsonValue
  /** Members of a mapping, in the order of the text. */
  readonly members: readonly Member[] | undefined
  readonly items: readonly Node[] | undefined
  /** True for a scalar without quotes, whose type its spelling decides. */
  readonly plain: boolean
  /** True when the node is written elsewhere and only named here. */
  readonly alias: boolean
}

export interface Member {
  readonly key: string
  readonly start: number
  readonly end: number
  readonly node: Node
}

/** What stands under a key of a mapping. */
export function memberOf({ members }: Node, key: string): Member | undefined {
  // By index here and below: where this runs, an iterator would cost more than what it finds.
  if (members !== undefined)
    for (let at = 0; at < members.length; at++) if (members[at]!.key === key) return members[at]
  return undefined
}

export interface Reading {
  /** Roots of the documents of the file, in order. Empty when the text cannot be read. */
  readonly roots: readonly Node[]
  readonly findings: readonly Diagnostic[]
}

/** Reads a text into documents. `.json` files are held to JSON, every other to YAML 1.2. */
export function readYaml(source: Source): Reading {
  const refuse = (rule: string, start: number, end: number, message: string, fix?: string): Reading => ({
    roots: [],
    findings: [finding(source, rule, start, end, message, fix)],
  })
  // No letter takes more than three bytes.
  if (source.text.length > MAX_FILE_BYTES / 3 && Buffer.byteLength(source.text) > MAX_FILE_BYTES)
    return refuse(
      'doc/too-large',
      0,
      0,
      `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.`,
      'Move long texts to files of their own and name them with `ref`.',
    )
  if (source.path.endsWith('.json')) {
    if (jsonDepth(source.text) > MAX_NESTING) return refuse('doc/too-large', 0, 0, tooDeep)
    const fault = jsonFault(source.text)
    if (fault !== undefined) return refuse('doc/syntax', fault.start, fault.end, fault.message)
  }
  let events: Event[]
  try {
    events = parseEvents(source.text, { maxDepth: MAX_NESTING })
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    if (error.reason.includes('maxDepth')) {
      const at = stopOf(source.text, error)
      return refuse('doc/too-large', at, at + 1, tooDeep)
    }
    const { start, end, message, fix } = yamlFault(source.text, error)
    return refuse('doc/syntax', start, end, message, fix)
  }
  return build(source, events)
}

const tooDeep = `Nested deeper than ${MAX_NESTING} levels.`

interface Open {
  readonly event: MappingEvent | SequenceEvent
  /** What a mapping holds so far; undefined for a list. */
  readonly object: JsonObject | undefined
  /** How many members, or items, of those around it have been read. */
  readonly from: number
  readonly anchor: string | undefined
  /** The key that waits for its value. */
  key: Key | undefined
  end: number
  /** Nodes in it and levels below it, aliases followed. */
  size: number
  depth: number
}

interface Key {
  readonly name: string
  readonly start: number
  readonly end: number
  readonly twin: boolean
}

/** One pass over the parser's events: values, spans and bounds together, without recursion. */
function build(source: Source, events: readonly Event[]): Reading {
  const { text } = source
  const roots: Node[] = []
  const findings: Diagnostic[] = []
  const open: Open[] = []
  // Of all that is open, in one list: what is closed is copied off its end, no longer than it must be.
  const members: Member[] = []
  const items: Node[] = []
  let memberCount = 0
  let itemCount = 0
  const anchors = new Map<string, Node>()
  const measures = new Map<Node, { size: number; depth: number }>()
  let root: Node | undefined
  let broken = false
  let written = 0

  const report = (rule: string, start: number, end: number, message: string, fix?: string): void => {
    findings.push(finding(source, rule, start, end, message, fix))
  }
  const stop = (rule: string, start: number, end: number, message: string): void => {
    if (!broken) report(rule, start, end, message)
    broken = true
  }

  const place = (given: Node, size: number, depth: number): void => {
    const parent = open[open.length - 1]
    // What is left empty stands where it would have been written.
    const node = given.start < 0 ? moved(given, parent?.key?.end ?? parent?.end ?? 0) : given
    if (parent === undefined) {
      root = node
      if (size > MAX_EXPANSION * Math.max(written, 1))
        stop(
          'doc/too-large',
          node.start,
          node.start + 1,
          `Its aliases expand to more than ${MAX_EXPANSION} times what is written.`,
        )
      return
    }
    parent.size += size
    if (parent.depth <= depth) parent.depth = depth + 1
    if (parent.end < node.end) parent.end = node.end
    if (open.length + depth > MAX_NESTING) stop('doc/too-large', node.start, node.end, tooDeep)
    const { object, key } = parent
    if (object === undefined) {
      items[itemCount++] = node
    } else if (key === undefined) {
      if (node.members !== undefined || node.items !== undefined)
        report('doc/syntax', node.start, node.end, 'A key must be a text.')
      // `1: x` has the key "1": names are texts, whatever type their spelling has.
      const name = typeof node.value === 'string' ? node.value : text.slice(node.start, node.end)
      parent.key = keyOf(parent, object, name, node.start, node.end)
    } else {
      parent.key = undefined
      if (key.twin) return
      const { name, start, end } = key
      members[memberCount++] = { key: name, start, end, node }
      define(object, name, node.value)
      if (memberCount - parent.from === MAX_KEYS + 1)
        stop('doc/too-large', start, end, `More than ${MAX_KEYS} keys in one mapping.`)
    }
  }

  const keyOf = (parent: Open, object: JsonObject, name: string, start: number, end: number): Key => {
    const twin = Object.hasOwn(object, name)
    if (twin) {
      const first = members.slice(parent.from, memberCount).find(({ key }) => key === name)!
      findings.push(
        diagnostic(
          'doc/duplicate-key',
          'error',
          { path: source.path, pointer: '', range: source.span(start, end) },
          `The key "${name}" is written twice.`,
          {
            fix: 'Merge the two.',
            related: [{ path: source.path, range: source.span(first.start, first.end), message: 'first here' }],
          },
        ),
      )
    }
    return { name, start, end, twin }
  }

  const tagged = (event: { readonly tagStart: number; readonly tagEnd: number }): void => {
    const tag = text.slice(event.tagStart, event.tagEnd)
    report(
      'doc/syntax',
      event.tagStart,
      event.tagEnd,
      `The tag "${tag}" is not read: documents are plain data.`,
      'Remove the tag and write the value itself.',
    )
  }
  const anchorOf = (event: { readonly anchorStart: number; readonly anchorEnd: number }): string | undefined =>
    event.anchorStart < 0 ? undefined : text.slice(event.anchorStart, event.anchorEnd)
  const remember = (name: string | undefined, node: Node, size: number, depth: number): void => {
    if (name === undefined) return
    anchors.set(name, node)
    measures.set(node, { size, depth })
  }

  const scalar = (event: ScalarEvent): void => {
    if (event.tagStart >= 0) tagged(event)
    written++
    const parent = open[open.length - 1]
    if (parent?.object !== undefined && parent.key === undefined && isPlainName(text, event)) {
      const { valueStart: start, valueEnd: end } = event
      parent.size++
      if (parent.depth === 0) parent.depth = 1
      parent.end = end
      parent.key = keyOf(parent, parent.object, text.slice(start, end), start, end)
      return
    }
    const node = scalarNode(text, event)
    if (typeof node.value === 'number' && !Number.isFinite(node.value))
      report(
        'doc/syntax',
        node.start,
        node.end,
        `"${text.slice(node.start, node.end)}" is no number that JSON can say.`,
      )
    if (event.anchorStart >= 0) remember(anchorOf(event), node, 1, 0)
    place(node, 1, 0)
  }
  const alias = (event: AliasEvent): void => {
    written++
    const name = text.slice(event.anchorStart, event.anchorEnd)
    const target = anchors.get(name)
    const [start, end] = [event.anchorStart - 1, event.anchorEnd]
    if (target === undefined) {
      const inside = open.some((each) => each.anchor === name)
      report(
        'doc/syntax',
        start,
        end,
        inside ? `"*${name}" stands inside what it names.` : `No anchor "&${name}" stands before.`,
      )
      place({ start, end, value: null, members: undefined, items: undefined, plain: false, alias: true }, 1, 0)
      return
    }
    const { size, depth } = measures.get(target)!
    place({ ...target, start, end, alias: true }, size, depth)
  }
  const pop = (): void => {
    const done = open.pop()
    if (done === undefined) {
      if (!broken) roots.push(root ?? scalarAt(0, 0, null, true))
      return
    }
    const { event, object, from, anchor, size, depth } = done
    const { start } = event
    const end = isBracketed(text, event) ? closingBracket(text, done.end) : done.end
    let node: Node
    if (object !== undefined) {
      const named = members.slice(from, memberCount)
      memberCount = from
      node = { start, end, value: object, members: named, items: undefined, plain: false, alias: false }
    } else {
      const listed = items.slice(from, itemCount)
      itemCount = from
      const value: JsonValue[] = []
      for (let at = 0; at < listed.length; at++) value.push(listed[at]!.value)
      node = { start, end, value, members: undefined, items: listed, plain: false, alias: false }
    }
    remember(anchor, node, size, depth)
    place(node, size, depth)
  }

  for (let at = 0; at < events.length; at++) {
    if (broken) break
    const event = events[at]!
    switch (event.type) {
      case EVENT_ID.DOCUMENT:
        anchors.clear()
        root = undefined
        written = 0
        for (const directive of event.directives)
          if (directive.kind === 'yaml' && directive.version !== '1.2')
            report(
              'doc/syntax',
              0,
              0,
              `Documents are YAML 1.2; the file says ${directive.version}.`,
              'Remove the %YAML line.',
            )
        break
      case EVENT_ID.MAPPING:
      case EVENT_ID.SEQUENCE: {
        if (event.tagStart >= 0) tagged(event)
        written++
        const anchor = anchorOf(event)
        // From here on the name means this node, which is not complete: an alias inside it would be endless.
        if (anchor !== undefined) anchors.delete(anchor)
        const isMapping = event.type === EVENT_ID.MAPPING
        const from = isMapping ? memberCount : itemCount
        const object = isMapping ? {} : undefined
        open.push({ event, object, from, anchor, key: undefined, end: event.start + 1, size: 1, depth: 0 })
        break
      }
      case EVENT_ID.SCALAR:
        scalar(event)
        break
      case EVENT_ID.ALIAS:
        alias(event)
        break
      case EVENT_ID.POP:
        pop()
        break
    }
  }
  return { roots: broken ? [] : roots, findings }
}

const moved = (node: Node, at: number): Node => ({ ...node, start: at, end: at })

function scalarNode(text: string, event: ScalarEvent): Node {
  const written = getScalarValue(text, event)
  const { valueStart: start, valueEnd: end, style } = event
  if (style === SCALAR_STYLE.PLAIN) return scalarAt(start, end, plainValue(written), true)
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
    return scalarAt(start - 1, end + 1, written, false)
  return scalarAt(start, start + text.slice(start, end).trimEnd().length, written, false)
}

/** What a scalar without quotes says: its spelling decides. */
const plainValue = (written: string): JsonValue =>
  beginsText(written.charCodeAt(0)) ? written : (CORE_SCHEMA.resolveImplicitScalarTag(written).value as JsonValue)

/** True for letters with which no number, truth value or null begins. */
const beginsText = (code: number): boolean =>
  code >= 0x61 && code <= 0x7a
    ? code !== 0x66 && code !== 0x6e && code !== 0x74
    : code >= 0x41 && code <= 0x5a && code !== 0x46 && code !== 0x4e && code !== 0x54

/** A name as nearly all keys are written: one word or more that begin with a letter, without quotes and by themselves. */
const isPlainName = (text: string, { style, fast, valueStart, anchorStart }: ScalarEvent): boolean =>
  style === SCALAR_STYLE.PLAIN && fast && anchorStart < 0 && isLetter(text.charCodeAt(valueStart))

const isLetter = (code: number): boolean => (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a)

const scalarAt = (start: number, end: number, value: JsonValue, plain: boolean): Node => ({
  start,
  end,
  value,
  members: undefined,
  items: undefined,
  plain,
  alias: false,
})

/** False for the mapping that a pair in a list is: `[key: value]`. */
const isBracketed = (text: string, { style, start }: MappingEvent | SequenceEvent): boolean =>
  style === COLLECTION_STYLE.FLOW && (text[start] === '[' || text[start] === '{')

/** The offset after the bracket that closes a flow collection whose last child ends at `from`: only space, commas and comments lie between. */
function closingBracket(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const char = text[at]
    if (char === ']' || char === '}') return at + 1
    if (char === '#') while (at + 1 < text.length && text[at + 1] !== '\n' && text[at + 1] !== '\r') at++
  }
  return text.length
}

/** Sets an own member, `__proto__` too: an assignment would change the object's prototype instead. */
function define(object: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__')
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  else object[key] = value
}

function finding(source: Source, rule: string, start: number, end: number, message: string, fix?: string): Diagnostic {
  return diagnostic(rule, 'error', { path: source.path, pointer: '', range: source.span(start, end) }, message, {
    ...(fix !== undefined && { fix }),
  })
}
