/** The items of a streamed response, where servers give several of them one place. */
import { textOf, type JsonObject, type JsonValue } from '../../base/json/json.ts'

interface StreamedItem {
  readonly at: JsonValue | undefined
  item: JsonObject
  isDone: boolean
}

export interface ItemCollector {
  /** Takes an item as it was added, or is done: then it replaces what was added. */
  add(at: JsonValue | undefined, item: JsonObject, isDone: boolean): void
  /** By their places. */
  inOrder(): readonly StreamedItem[]
}

export function collectItems(): ItemCollector {
  const items: StreamedItem[] = []
  return {
    add(at, item, isDone) {
      const here = items.filter((each) => each.at === at)
      const known =
        here.find((each) => isSame(each, item)) ??
        // Some servers give an item another id when it is done.
        (isDone ? here.find((each) => !each.isDone && each.item['type'] === item['type']) : undefined)
      if (!known) items.push({ at, item, isDone })
      else if (isDone || !known.isDone) Object.assign(known, { item, isDone })
    },
    inOrder: () => items.toSorted((a, b) => Number(a.at) - Number(b.at)),
  }
}

/** Items of one place are the same by the ids of their calls, else by their own. */
function isSame({ item, isDone }: StreamedItem, other: JsonObject): boolean {
  const [call, otherCall] = [textOf(item['call_id']), textOf(other['call_id'])]
  const isOwn = textOf(item['id']) !== '' && item['id'] === other['id']
  if (item['type'] !== other['type']) return false
  return call !== '' && otherCall !== '' ? call === otherCall || (isOwn && !isDone) : isOwn
}
