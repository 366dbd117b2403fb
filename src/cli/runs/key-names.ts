/** Names of API keys in a timeline, which records a key by its id. */
import { isJsonObject } from '../../base/json/json.ts'
import type { TimelineItem } from '../../spec/api.ts'
import type { OperatorClient } from '../../client/operator.ts'

/** For an operator, the items with the names of the keys that answered; else unchanged. */
export async function withKeyNames(
  items: readonly TimelineItem[],
  operator: OperatorClient | undefined,
): Promise<readonly TimelineItem[]> {
  if (!operator || !items.some((item) => keyOf(item) !== undefined)) return items
  const { items: keys } = await operator.call('GET /keys', { query: {} })
  const names = new Map(
    keys.map((key) => [key.keyId as string, key.name === null ? `key ${key.prefix}…` : `key "${key.name}"`]),
  )
  return items.map((item) => {
    const name = names.get(keyOf(item) ?? '')
    return name === undefined || !isJsonObject(item.content)
      ? item
      : { ...item, content: { ...item.content, completed_by: name } }
  })
}

function keyOf({ type, content }: TimelineItem): string | undefined {
  if (type !== 'UserTaskRes' || !isJsonObject(content)) return undefined
  const by = content['completed_by']
  return typeof by === 'string' && by.startsWith('key:') ? by.slice('key:'.length) : undefined
}
