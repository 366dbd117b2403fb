/** Replaces merge keys (`<<: *base`), which YAML 1.2 does not have, by the merged keys. */
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { TextEdit } from './diagnostic.ts'
import type { DocumentSpans } from './document.ts'
import { memberOf, nodeAt, type YamlMember, type YamlNode } from './node.ts'
import { segmentsOf } from '../../base/json/pointer.ts'
import { withLineBreaksOf, type SourceText } from './source.ts'

export const MERGE_KEY = '<<'

/** True for a merge key; in quotes, `<<` is a name like any other. */
export const isMergeKey = ({ text }: SourceText, { key, start }: YamlMember): boolean =>
  key === MERGE_KEY && text[start] === '<'

/** Longest replacement in characters: a person must be able to review it. */
const LONGEST = 500

/** The keys that a merge key at a pointer adds. The first source with a key wins; keys of the mapping itself are left out. */
export function mergedKeysAt({ root }: DocumentSpans, pointer: string): ReadonlyMap<string, JsonValue> {
  const holder = nodeAt(root, segmentsOf(pointer).slice(0, -1))
  const merged = holder && memberOf(holder, MERGE_KEY)?.node
  const added = new Map<string, JsonValue>()
  if (holder === undefined || merged === undefined) return added
  const sources: readonly YamlNode[] = merged.items ?? [merged]
  for (const { value } of sources)
    for (const [key, each] of Object.entries(isJsonObject(value) ? value : {}))
      if (added.size < MOST_KEYS && memberOf(holder, key) === undefined && !added.has(key)) added.set(key, each)
  return added
}

/** Maximum number of merged keys; beyond it nothing is replaced. */
const MOST_KEYS = LONGEST / 4

/** Edits that replace the merge key by the keys. Empty if it adds none, or is part of another merge. */
export function mergeKeyEdits(spans: DocumentSpans, pointer: string): TextEdit[] {
  const { source, root } = spans
  const holder = nodeAt(root, segmentsOf(pointer).slice(0, -1))
  const member = holder && memberOf(holder, MERGE_KEY)
  const sources = member === undefined ? [] : (member.node.items ?? [member.node])
  const isPlain = ({ value }: YamlNode): boolean => isJsonObject(value) && !Object.hasOwn(value, MERGE_KEY)
  if (holder === undefined || member === undefined || holder.alias || !sources.every(isPlain)) return []
  const added = membersText(mergedKeysAt(spans, pointer), LONGEST)
  if (added === undefined || added.length === 0) return []
  const column = member.start - (source.text.lastIndexOf('\n', member.start - 1) + 1)
  const between = source.text[holder.start] === '{' ? ', ' : `\n${' '.repeat(column)}`
  return [
    {
      path: source.path,
      range: source.span(member.start, member.node.end),
      text: withLineBreaksOf(source, added.join(between)),
    },
  ]
}

/** A value on one line; undefined if it is longer than the limit. */
export function flowText(value: JsonValue, longest = LONGEST): string | undefined {
  if (typeof value === 'string' && value.length > longest) return undefined
  if (!isJsonObject(value) && !Array.isArray(value)) return JSON.stringify(value)
  const inner = Array.isArray(value)
    ? within(value, longest, (each, room) => flowText(each, room))
    : membersText(Object.entries(value), longest)
  if (inner === undefined) return undefined
  if (Array.isArray(value)) return `[${inner.join(', ')}]`
  return inner.length === 0 ? '{}' : `{ ${inner.join(', ')} }`
}

/** Each pair in flow style. */
const membersText = (members: Iterable<readonly [string, JsonValue]>, longest: number): readonly string[] | undefined =>
  within(members, longest, ([key, value], room) => {
    const text = flowText(value, room)
    return text === undefined ? undefined : `${keyText(key)}: ${text}`
  })

/** All texts; undefined if they exceed the limit together. */
function within<T>(
  all: Iterable<T>,
  longest: number,
  textOf: (each: T, room: number) => string | undefined,
): readonly string[] | undefined {
  const texts: string[] = []
  let room = longest
  for (const each of all) {
    const text = textOf(each, room)
    if (text === undefined || text.length > room) return undefined
    texts.push(text)
    room -= text.length + 2
  }
  return texts
}

const keyText = (key: string): string => (/^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key))
