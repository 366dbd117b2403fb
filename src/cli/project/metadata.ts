import type { JsonObject } from '../../base/json/json.ts'
import { usageFailure } from '../../base/usage-failure.ts'

/** `key=value` pairs as an object of texts; undefined where there are none. */
export function metadataOf(pairs: readonly string[]): JsonObject | undefined {
  if (pairs.length === 0) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw usageFailure(`--metadata takes key=value, not "${pair}".`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}
