import type { TextEdit } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import { withLineBreaksOf } from '../text/source.ts'
import { memberOf, nodeAt, type YamlMember } from '../text/node.ts'

/**
 * Edits that add a member to a mapping, in the style of the mapping. Missing parent mappings are added too. Empty if other text
 * would change: a parent has another type, or an alias shares the text.
 * @param pointer of the new member
 * @param value its value as flow text, valid in YAML and JSON, or as lines to be indented below the key
 * @param before key in front of which it stands; the first place when absent
 */
export function insertionEdits(
  { source, root }: DocumentSpans,
  pointer: string,
  value: string | readonly string[],
  before?: string,
): TextEdit[] {
  const segments = segmentsOf(pointer)
  let depth = segments.length - 1
  while (depth > 0 && nodeAt(root, segments.slice(0, depth)) === undefined) depth--
  const parent = nodeAt(root, segments.slice(0, depth))
  const [key, ...inner] = segments.slice(depth)
  if (key === undefined || parent?.members === undefined || parent.alias) return []
  if (memberOf(parent, key) !== undefined) return []
  const isJson = source.path.endsWith('.json')
  const quoted = (name: string): string => (isJson || !/^[A-Za-z_][\w-]*$/.test(name) ? JSON.stringify(name) : name)
  const isFlow = source.text[parent.start] === '{'
  const put = (at: number, text: string): TextEdit[] => [
    { path: source.path, range: source.span(at, at), text: withLineBreaksOf(source, text) },
  ]
  const { members } = parent
  const next = members.find((each) => each.key === before) ?? members[0]
  if (isFlow) {
    if (typeof value !== 'string') return []
    const flow = `${quoted(key)}: ${inner.reduceRight((text, name) => `{ ${quoted(name)}: ${text} }`, value)}`
    if (next === undefined) return put(parent.start + 1, ` ${flow} `)
    const before = source.text.slice(source.text.lastIndexOf('\n', next.start - 1) + 1, next.start)
    return put(next.start, `${flow},${/^\s*$/.test(before) ? `\n${before}` : ' '}`)
  }
  if (next === undefined || isJson) return []
  const indent = next.start - (source.text.lastIndexOf('\n', next.start - 1) + 1)
  const column = indent + 2 * (inner.length + 1)
  const last =
    typeof value === 'string'
      ? ` ${value}`
      : value.map((line) => `\n${line === '' ? '' : ' '.repeat(column) + line}`).join('')
  const block = [key, ...inner]
    .map((name, at) => `${at === 0 ? '' : `\n${' '.repeat(indent + 2 * at)}`}${quoted(name)}:`)
    .join('')
  return put(next.start, `${block}${last}\n${' '.repeat(indent)}`)
}

/** Edits that move a member with its value as written; empty if it cannot be removed or inserted. */
export function moveEdits(
  spans: DocumentSpans,
  from: string,
  to: string,
  removal: readonly TextEdit[],
  before?: string,
): TextEdit[] {
  const at = segmentsOf(from)
  const holder = nodeAt(spans.root, at.slice(0, -1))
  const key = at.at(-1)
  const member = holder && key !== undefined ? memberOf(holder, key) : undefined
  const outward = segmentsOf(to).length === 1 || spans.source.path.endsWith('.json')
  const value = member && writtenValue(spans.source.text, member, outward)
  const insertion = value === undefined || removal.length === 0 ? [] : insertionEdits(spans, to, value, before)
  return insertion.length === 0 ? [] : [...removal, ...insertion]
}

/**
 * Flow text unchanged, a block as lines without indentation; undefined if it cannot be moved.
 * @param outward true if continuation lines of flow text are indented enough for the target
 */
function writtenValue(
  text: string,
  { node, end: keyEnd }: YamlMember,
  outward: boolean,
): string | readonly string[] | undefined {
  const written = text.slice(node.start, node.end)
  if (node.alias || /^[|>&*!]/.test(written)) return undefined
  const isFlow = /^[[{]/.test(written)
  const isBlock = (node.members !== undefined || node.items !== undefined) && !isFlow
  if (!isBlock) return written.includes('\n') && !(isFlow && outward) ? undefined : written.replaceAll('\r\n', '\n')
  const [beside = '', ...lines] = text
    .slice(keyEnd, node.end)
    .replace(/(?:\r?\n[ \t]*)+$/, '')
    .split(/\r?\n/)
  const comment = /^\s*:\s*(#.*)?$/.exec(beside)
  if (comment === null) return undefined
  // The value of such a block scalar (explicit indentation, kept final lines, or no final line break) would change.
  const isMeant = text.includes('\n', node.end) ? /[|>][-+\d]*[+\d][-+\d]*\s*(?:#.*)?$/ : /[|>][-+\d]*\s*(?:#.*)?$/
  if (lines.some((line) => isMeant.test(line))) return undefined
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)))
  return [...(comment[1] === undefined ? [] : [comment[1]]), ...lines.map((line) => line.slice(indent))]
}
