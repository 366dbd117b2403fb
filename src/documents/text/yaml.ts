/**
 * Reads YAML and JSON for lint, compile and publish, so that all parts read a document in the same way.
 * YAML 1.2 core schema without tags and merge keys; limits turn hostile text into findings.
 * Source: security, S10 and S26; bundles, section 2; performance, "What works", 7.
 */
import {
  COLLECTION_STYLE,
  EVENT_ID,
  SCALAR_STYLE,
  YAMLException,
  getScalarValue,
  type AliasEvent,
  type DocumentEvent,
  type Event,
  type MappingEvent,
  type ScalarEvent,
  type SequenceEvent,
} from 'js-yaml'
import { isExactNumber } from '../../base/json/exact-number.ts'
import { jsonDepth, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { createFinding, type Diagnostic } from './diagnostic.ts'
import { eventsOf } from './events.ts'
import { plainValue, type YamlMember, type YamlNode } from './node.ts'
import type { SourceText } from './source.ts'
import { jsonFault, stopOf, unfilledTemplate, yamlFault, type TextFault } from './text-fault.ts'

/** Maximum bytes of a file. */
export const MAX_FILE_BYTES = 1024 * 1024
/** Maximum nesting, aliases expanded. */
export const MAX_NESTING = 64
/** Maximum keys of a mapping. */
const MAX_KEYS = 10_000
/** Maximum ratio of nodes with aliases expanded to nodes as written. */
const MAX_EXPANSION = 100

export interface YamlReading {
  /** Roots of the documents of the file, in order. Empty if the text cannot be parsed. */
  readonly roots: readonly YamlNode[]
  readonly findings: readonly Diagnostic[]
}

/** Parses a file: `.json` as JSON, every other as YAML 1.2. */
export function readYaml(source: SourceText): YamlReading {
  if (Buffer.byteLength(source.text) > MAX_FILE_BYTES)
    return refuse(
      source,
      'doc/too-large',
      0,
      0,
      `The file is larger than ${MAX_FILE_BYTES / 1024} KiB.`,
      'Move long texts to files of their own and name them with `ref`.',
    )
  if (source.path.endsWith('.json')) {
    if (jsonDepth(source.text) > MAX_NESTING) return refuse(source, 'doc/too-large', 0, 0, tooDeep)
    const fault = jsonFault(source.text)
    if (fault !== undefined) return refuse(source, 'doc/syntax', fault.start, fault.end, fault.message)
  }
  let events: readonly Event[]
  try {
    events = eventsOf(source.text, MAX_NESTING)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    if (error.reason.includes('maxDepth')) {
      const at = stopOf(source.text, error)
      return refuse(source, 'doc/too-large', at, at + 1, tooDeep)
    }
    return refuseFault(source, yamlFault(source.text, error))
  }
  return build(source, events)
}

const refuse = (
  source: SourceText,
  rule: string,
  start: number,
  end: number,
  message: string,
  fix?: string,
): YamlReading => ({
  roots: [],
  findings: [finding(source, rule, start, end, message, fix)],
})

function refuseFault(source: SourceText, { start, end, message, fix, instead }: TextFault): YamlReading {
  const refused = refuse(source, 'doc/syntax', start, end, message, fix)
  if (instead === undefined || fix === undefined) return refused
  const edits = [{ path: source.path, range: source.span(start, end), text: instead }]
  return { roots: [], findings: refused.findings.map((each) => ({ ...each, fix: { description: fix, edits } })) }
}

const tooDeep = `Nested deeper than ${MAX_NESTING} levels.`

/** A text that exceeds a limit is not parsed any further. */
class TooLarge extends Error {}

/** A value that begins with two braces. Only the first is reported, because the others have the same cause. */
class UnfilledTemplate extends Error {
  readonly start: number
  constructor(start: number) {
    super()
    this.start = start
  }
}

/** The node of an anchor. */
interface Named {
  readonly node: YamlNode
  /** Nodes in it, including itself, and levels below it, with aliases expanded. */
  readonly size: number
  readonly depth: number
}

/** Builds values and spans and checks the limits in one pass over the parser's events. The parser limits the nesting. */
function build(source: SourceText, events: readonly Event[]): YamlReading {
  const { text } = source
  const roots: YamlNode[] = []
  const findings: Diagnostic[] = []
  let anchors: Map<string, Named> | undefined
  const openAnchors: string[] = []
  let at = 0
  let level = 0
  let written = 0
  // Size and depth of the last node, for its anchor.
  let size = 0
  let depth = 0

  const report = (rule: string, start: number, end: number, message: string, fix?: string): void => {
    findings.push(finding(source, rule, start, end, message, fix))
  }
  const stop = (start: number, end: number, message: string): never => {
    report('doc/too-large', start, end, message)
    throw new TooLarge()
  }

  const document = ({ directives }: DocumentEvent): void => {
    for (const directive of directives)
      if (directive.kind === 'yaml' && directive.version !== '1.2')
        report(
          'doc/syntax',
          0,
          0,
          `Documents are YAML 1.2; the file says ${directive.version}.`,
          'Remove the %YAML line.',
        )
    anchors = undefined
    written = 0
    const root = read(events[at++]!, 0)
    if (size > MAX_EXPANSION * written)
      stop(root.start, root.start + 1, `Its aliases expand to more than ${MAX_EXPANSION} times what is written.`)
    roots.push(root)
    // The end of the document.
    at++
  }

  /** @param empty offset of an empty value */
  const read = (event: Event, empty: number): YamlNode => {
    switch (event.type) {
      case EVENT_ID.SCALAR:
        return scalar(event, empty)
      case EVENT_ID.MAPPING:
        return mapping(event)
      case EVENT_ID.SEQUENCE:
        return sequence(event)
      default:
        return alias(event as AliasEvent)
    }
  }

  const mapping = (event: MappingEvent): YamlNode => {
    const anchor = open(event)
    const members: YamlMember[] = []
    const object: JsonObject = {}
    let nodes = 1
    let levels = 0
    let last = event.start + 1
    for (let next = events[at++]!; next.type !== EVENT_ID.POP; next = events[at++]!) {
      const name = read(next, last)
      const { start, end } = name
      if (name.members !== undefined && start === event.start + 1) throw new UnfilledTemplate(event.start)
      if (name.members !== undefined || name.items !== undefined)
        report('doc/syntax', start, end, 'A key must be a string.')
      // `1: x` has the key "1": keys are strings, even if they look like numbers.
      const key = typeof name.value === 'string' ? name.value : text.slice(start, end)
      bound(name)
      nodes += size
      if (levels <= depth) levels = depth + 1
      const isTwin = Object.hasOwn(object, key)
      if (isTwin) twin(key, start, end, members)
      const node = read(events[at++]!, end)
      bound(node)
      nodes += size
      if (levels <= depth) levels = depth + 1
      last = node.end
      if (isTwin) continue
      members.push({ key, start, end, node })
      define(object, key, node.value)
      if (members.length > MAX_KEYS) stop(start, end, `More than ${MAX_KEYS} keys in one mapping.`)
    }
    const node: YamlNode = { start: event.start, end: endOf(event, last), value: object, members }
    close(anchor, node, nodes, levels)
    return node
  }

  const sequence = (event: SequenceEvent): YamlNode => {
    const anchor = open(event)
    const items: YamlNode[] = []
    const value: JsonValue[] = []
    let nodes = 1
    let levels = 0
    let last = event.start + 1
    for (let item = events[at++]!; item.type !== EVENT_ID.POP; item = events[at++]!) {
      const node = read(item, last)
      bound(node)
      nodes += size
      if (levels <= depth) levels = depth + 1
      last = node.end
      items.push(node)
      value.push(node.value)
    }
    const node: YamlNode = { start: event.start, end: endOf(event, last), value, items }
    close(anchor, node, nodes, levels)
    return node
  }

  const scalar = (event: ScalarEvent, empty: number): YamlNode => {
    count(event)
    const node = scalarNode(text, event)
    if (typeof node.value === 'number') number(node)
    if (event.anchorStart >= 0) remember(anchorOf(event), node)
    return node.start < 0 ? { ...node, start: empty, end: empty } : node
  }

  const number = ({ start, end }: YamlNode): void => {
    const written = text.slice(start, end)
    if (/^[-+]?\.(inf|nan)$/i.test(written))
      report('doc/syntax', start, end, `"${written}" is not a number that JSON can represent.`)
    else if (!isExactNumber(written))
      report(
        'doc/number-range',
        start,
        end,
        `The number ${written.slice(0, 40)} cannot be represented exactly.`,
        'Put the number in quotes if the field accepts a string.',
      )
  }

  const alias = (event: AliasEvent): YamlNode => {
    written++
    const name = text.slice(event.anchorStart, event.anchorEnd)
    const named = anchors?.get(name)
    const [start, end] = [event.anchorStart - 1, event.anchorEnd]
    size = named?.size ?? 1
    depth = named?.depth ?? 0
    if (named !== undefined) return { ...named.node, start, end, alias: true }
    report(
      'doc/syntax',
      start,
      end,
      openAnchors.includes(name) ? `"*${name}" stands inside what it names.` : `No anchor "&${name}" stands before.`,
    )
    return { start, end, value: null, alias: true }
  }

  /** Counts a written node, which so far expands to one node. */
  const count = (event: ScalarEvent | MappingEvent | SequenceEvent): void => {
    if (event.tagStart >= 0) {
      const tag = text.slice(event.tagStart, event.tagEnd)
      report(
        'doc/syntax',
        event.tagStart,
        event.tagEnd,
        `The tag "${tag}" is not read: documents are plain data.`,
        'Remove the tag and write the value itself.',
      )
    }
    written++
    size = 1
    depth = 0
  }
  const bound = (node: YamlNode): void => {
    if (level + depth > MAX_NESTING) stop(node.start, node.end, tooDeep)
  }

  const open = (event: MappingEvent | SequenceEvent): string | undefined => {
    count(event)
    level++
    if (event.anchorStart < 0) return undefined
    const anchor = anchorOf(event)
    // The anchor now refers to this incomplete node: an alias inside it would be endless.
    anchors?.delete(anchor)
    openAnchors.push(anchor)
    return anchor
  }
  const close = (anchor: string | undefined, node: YamlNode, nodes: number, levels: number): void => {
    level--
    size = nodes
    depth = levels
    if (anchor === undefined) return
    openAnchors.pop()
    remember(anchor, node)
  }
  const anchorOf = (event: { readonly anchorStart: number; readonly anchorEnd: number }): string =>
    text.slice(event.anchorStart, event.anchorEnd)
  const remember = (anchor: string, node: YamlNode): void => {
    anchors ??= new Map()
    anchors.set(anchor, { node, size, depth })
  }
  const endOf = (event: MappingEvent | SequenceEvent, last: number): number =>
    isBracketed(text, event) ? closingBracket(text, last) : last

  const twin = (key: string, start: number, end: number, before: readonly YamlMember[]): void => {
    const first = before.find((each) => each.key === key)!
    findings.push(
      createFinding(
        'doc/duplicate-key',
        'error',
        { path: source.path, pointer: '', range: source.span(start, end) },
        `The key "${key}" is written twice.`,
        {
          fix: 'Merge the two.',
          related: [{ path: source.path, range: source.span(first.start, first.end), message: 'first here' }],
        },
      ),
    )
  }

  try {
    while (at < events.length) document(events[at++] as DocumentEvent)
    return { roots, findings }
  } catch (error) {
    if (error instanceof TooLarge) return { roots: [], findings }
    if (error instanceof UnfilledTemplate)
      return refuseFault(source, unfilledTemplate(text, error.start, text.indexOf('}}', error.start) + 2))
    throw error
  }
}

function scalarNode(text: string, event: ScalarEvent): YamlNode {
  const { valueStart: start, valueEnd: end, style } = event
  const value = getScalarValue(text, event)
  if (style === SCALAR_STYLE.PLAIN) return { start, end, value: plainValue(value), plain: true }
  if (style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED)
    return { start: start - 1, end: end + 1, value }
  return { start, end: start + text.slice(start, end).trimEnd().length, value }
}

/** False for the implicit mapping of a pair in a list: `[key: value]`. */
const isBracketed = (text: string, { style, start }: MappingEvent | SequenceEvent): boolean =>
  style === COLLECTION_STYLE.FLOW && (text[start] === '[' || text[start] === '{')

/** Offset after the closing bracket of a flow collection whose last child ends at `from`; only space, commas and comments are between. */
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

function finding(
  source: SourceText,
  rule: string,
  start: number,
  end: number,
  message: string,
  fix?: string,
): Diagnostic {
  return createFinding(rule, 'error', { path: source.path, pointer: '', range: source.span(start, end) }, message, {
    ...(fix !== undefined && { fix }),
  })
}
