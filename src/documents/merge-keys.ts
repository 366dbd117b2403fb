/** Merge keys (`<<: *base`), which YAML 1.2 has not, written out. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import type { Edit } from './diagnostic.ts'
import type { Spans } from './document.ts'
import { memberOf, type Node } from './node.ts'
import { segmentsOf } from './pointer.ts'
import { nodeAt } from './removal.ts'
import { brokenAs } from './source.ts'

export const MERGE_KEY = '<<'

/** What a merge key at a pointer would add: of several, the first that has a key; nothing that the mapping has itself. */
export function mergedAt({ root }: Spans, pointer: string): ReadonlyMap<string, JsonValue> {
  const holder = nodeAt(root, segmentsOf(pointer).slice(0, -1))
  const merged = holder && memberOf(holder, MERGE_KEY)?.node
  const sources: readonly Node[] = merged === undefined ? [] : (merged.items ?? [merged])
  const added = new Map<string, JsonValue>()
  for (const { value } of sources)
    for (const [key, each] of Object.entries(isJsonObject(value) ? value : {}))
      if (memberOf(holder!, key) === undefined && !added.has(key)) added.set(key, each)
  return added
}

/** Edits that write these keys in its place. Empty for what adds nothing, or is merged itself. */
export function writtenOut(spans: Spans, pointer: string): Edit[] {
  const { source, root } = spans
  const holder = nodeAt(root, segmentsOf(pointer).slice(0, -1))
  const member = holder && memberOf(holder, MERGE_KEY)
  const sources = member === undefined ? [] : (member.node.items ?? [member.node])
  const isPlain = ({ value }: Node): boolean => isJsonObject(value) && !Object.hasOwn(value, MERGE_KEY)
  if (holder === undefined || member === undefined || holder.alias || !sources.every(isPlain)) return []
  const added = [...mergedAt(spans, pointer)].map(([key, value]) => `${keyText(key)}: ${flowText(value)}`)
  if (added.length === 0) return []
  const column = member.start - (source.text.lastIndexOf('\n', member.start - 1) + 1)
  const between = source.text[holder.start] === '{' ? ', ' : `\n${' '.repeat(column)}`
  return [
    {
      path: source.path,
      range: source.span(member.start, member.node.end),
      text: brokenAs(source, added.join(between)),
    },
  ]
}

/** A value on one line. */
export function flowText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (!isJsonObject(value)) return JSON.stringify(value)
  const members = Object.entries(value).map(([key, each]) => `${keyText(key)}: ${flowText(each)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

const keyText = (key: string): string => (/^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key))
