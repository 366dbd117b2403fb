/** Three-way merge of documents: what the author wrote stays. Source: docs/design/command-line.md#imports */
import { canonicalJson, isJsonObject, type JsonValue } from '../../base/json/json.ts'

export interface DocumentEdit {
  readonly path: readonly string[]
  /** Undefined removes it. */
  readonly value: JsonValue | undefined
}

export interface DocumentMerge {
  /** What only the source changed. */
  readonly edits: readonly DocumentEdit[]
  /** What both changed, in different ways: the author's side stays. */
  readonly conflicts: readonly DocumentEdit[]
}

/** @param base what the last import wrote; lists are compared as a whole */
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
    path: readonly string[],
  ): void => {
    if (isSame(ours, theirs) || isSame(was, theirs)) return
    // Members first, so that no comment of the author is replaced with what is around it.
    if (!isJsonObject(ours) || !isJsonObject(theirs))
      return void (isSame(was, ours) ? edits : conflicts).push({ path, value: theirs })
    const before = isJsonObject(was) ? was : {}
    for (const key of new Set([...Object.keys(before), ...Object.keys(ours), ...Object.keys(theirs)]))
      visit(own(before, key), own(ours, key), own(theirs, key), [...path, key])
  }
  visit(base, author, source, [])
  return { edits, conflicts }
}

const own = (value: Readonly<Record<string, JsonValue>>, key: string): JsonValue | undefined =>
  Object.hasOwn(value, key) ? value[key] : undefined

const isSame = (a: JsonValue | undefined, b: JsonValue | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b))
