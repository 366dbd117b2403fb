import type { TextEdit } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import { nodeAt, type YamlNode } from '../text/node.ts'

/**
 * Edits that remove a member of a mapping or an item of a list and keep every comment.
 * Empty if other text would change: for the last member of a mapping, or text that an alias shares.
 * @param moved true if the text, with its comments, is inserted elsewhere
 */
export function removalEdits(
  { source, root }: DocumentSpans,
  pointer: string,
  { moved = false }: { readonly moved?: boolean } = {},
): TextEdit[] {
  const segments = segmentsOf(pointer)
  const key = segments.pop()
  const parent = key === undefined ? undefined : nodeAt(root, segments)
  if (parent === undefined || key === undefined || parent.alias) return []
  const entries = [
    ...(parent.members ?? []),
    ...(parent.items ?? []).map((node) => ({ key: '', start: node.start, node })),
  ].map(({ start, node }) => ({ start, end: node.end, node }))
  const at = parent.members === undefined ? Number(key) : parent.members.findIndex((each) => each.key === key)
  const entry = entries[at]
  if (entry === undefined || entries.length === 1 || entry.node.alias) return []
  const cut = isFlow(source.text, parent)
    ? flowCut(entry, entries[at - 1], entries[at + 1])
    : blockCut(source.text, entry, parent.items !== undefined)
  if (cut === undefined) return []
  const [start, end] = cut
  // It is unclear to which entry a comment between two entries belongs, so nothing is removed.
  const beside = source.text.slice(start, entry.start) + source.text.slice(entry.end, end)
  return beside.includes('#') || (!moved && COMMENT.test(source.text.slice(entry.start, entry.end)))
    ? []
    : [{ path: source.path, range: source.span(start, end), text: '' }]
}

/** As `removalEdits`; removes the whole mapping or list if nothing else would be left in it. */
export function removalWithParent(spans: DocumentSpans, pointer: string): TextEdit[] {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const holder = nodeAt(spans.root, segmentsOf(parent))
  const size = (holder?.members ?? holder?.items)?.length ?? 0
  return size === 1 && parent !== '' ? removalWithParent(spans, parent) : removalEdits(spans, pointer)
}

/** Text with this pattern gets no fix. */
const COMMENT = /(?:^|\s)#/

interface RemovedEntry {
  readonly start: number
  readonly end: number
}

const isFlow = (text: string, node: YamlNode): boolean => text[node.start] === '{' || text[node.start] === '['

/** From the end of the previous entry to the end of this one; for the first, up to the start of the next. */
const flowCut = (
  entry: RemovedEntry,
  before: RemovedEntry | undefined,
  after: RemovedEntry | undefined,
): readonly [number, number] => (before ? [before.end, entry.end] : [entry.start, after?.start ?? entry.end])

/** The lines of the entry. Undefined if its first or last line contains something else. */
function blockCut(text: string, entry: RemovedEntry, item: boolean): readonly [number, number] | undefined {
  const { start } = entry
  // A block scalar includes its final line break.
  const end = start + text.slice(start, entry.end).trimEnd().length
  const line = text.lastIndexOf('\n', start - 1) + 1
  const before = text.slice(line, start)
  const next = text.indexOf('\n', end)
  const close = next < 0 ? text.length : next
  const after = text.slice(end, close).trim()
  if (!(item ? /^ *- *$/ : /^ *$/).test(before) || (after !== '' && !after.startsWith('#'))) return undefined
  // A comment after the entry is kept on its own line.
  if (after !== '') return item ? undefined : [start, text.indexOf('#', end)]
  return [line, next < 0 ? close : next + 1]
}
