/** Three-way merge of documents: what the author wrote stays. Source: docs/design/command-line.md#imports */
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'

export interface DocumentEdit {
  /** An index one behind the end of a list appends to it. */
  readonly path: readonly (string | number)[]
  /** Undefined removes it. */
  readonly value: JsonValue | undefined
}

export interface DocumentMerge {
  /** What only the source changed. */
  readonly edits: readonly DocumentEdit[]
  /** What both changed, in different ways: the author's side stays. */
  readonly conflicts: readonly DocumentEdit[]
}

/** Lists of which each item has a name, and the member that is it. All others are compared as a whole. */
const NAMED_ITEMS: Readonly<Record<string, string>> = {
  'spec.tools': 'ref',
  'spec.agents': 'ref',
  'spec.mcp_servers': 'name',
}

/** @param base what the last import wrote */
export function mergeDocuments(
  base: JsonValue | undefined,
  author: JsonValue | undefined,
  source: JsonValue | undefined,
): DocumentMerge {
  const edits: DocumentEdit[] = []
  const conflicts: DocumentEdit[] = []
  const visit = (
    was: JsonValue | undefined,
    ours: JsonValue | undefined,
    theirs: JsonValue | undefined,
    path: readonly (string | number)[],
  ): void => {
    if (isSame(ours, theirs) || isSame(was, theirs)) return
    const named = NAMED_ITEMS[path.join('.')]
    const [before, own, other] = [was, ours, theirs].map((list) =>
      named === undefined ? undefined : indexItems(list, named),
    )
    if (own && other) return visitItems(before ?? new Map(), own, other, path)
    // Members first, so that no comment of the author is replaced with what is around it.
    if (!isJsonObject(ours) || !isJsonObject(theirs))
      return void (isSame(was, ours) ? edits : conflicts).push({ path, value: theirs })
    const members = isJsonObject(was) ? was : {}
    for (const key of new Set([...Object.keys(members), ...Object.keys(ours), ...Object.keys(theirs)]))
      visit(memberOf(members, key), memberOf(ours, key), memberOf(theirs, key), [...path, key])
  }
  /** An item that the source dropped stays until the author deletes it; one that the author deleted stays deleted. */
  const visitItems = (
    was: NamedItems,
    ours: NamedItems,
    theirs: NamedItems,
    path: readonly (string | number)[],
  ): void => {
    let end = ours.size
    for (const [name, { item }] of theirs) {
      const own = ours.get(name)
      if (own) visit(was.get(name)?.item, own.item, item, [...path, own.index])
      else if (!was.has(name)) edits.push({ path: [...path, end++], value: item })
    }
    for (const [name, { index }] of ours)
      if (was.has(name) && !theirs.has(name)) conflicts.push({ path: [...path, index], value: undefined })
  }
  visit(base, author, source, [])
  return { edits, conflicts }
}

type NamedItems = ReadonlyMap<string, { readonly index: number; readonly item: JsonObject }>

/** Undefined where the value is no list of items with distinct names. */
function indexItems(list: JsonValue | undefined, member: string): NamedItems | undefined {
  if (!Array.isArray(list)) return undefined
  const items = new Map<string, { readonly index: number; readonly item: JsonObject }>()
  for (const [index, item] of list.entries()) {
    const name = isJsonObject(item) ? item[member] : undefined
    if (!isJsonObject(item) || typeof name !== 'string' || items.has(name)) return undefined
    items.set(name, { index, item })
  }
  return items
}

const memberOf = (value: Readonly<Record<string, JsonValue>>, key: string): JsonValue | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b))
