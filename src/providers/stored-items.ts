/** What a vendor said in forms of its own, kept in `hidden`, as the next request sends it back. */
import { fromJson } from '../base/json/typed-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import type { ModelCall } from './provider.ts'

/**
 * Items as the vendor sent them, with each call as it was executed. A call that was not executed has no result and is left out, and
 * so is what is no item.
 * @param isCall whether an item is a call
 * @param toCall writes the call in the place of its item
 */
export function restoreItems<Item extends object>(
  items: readonly JsonValue[],
  calls: readonly ModelCall[],
  isCall: (item: JsonObject) => boolean,
  toCall: (call: ModelCall, item: JsonObject) => Item,
): Item[] {
  const left = [...calls]
  return items.filter(isJsonObject).flatMap((item) => {
    if (!isCall(item)) return [fromJson<Item>(item)]
    const call = left.shift()
    return call ? [toCall(call, item)] : []
  })
}
