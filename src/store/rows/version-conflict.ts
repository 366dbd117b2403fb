import { canonicalJson, isJsonObject, type JsonObject } from '../../base/json/json.ts'

/** A version that was published with different content. */
export interface VersionConflict {
  readonly id: string
  readonly version: string
  readonly differs: string
}

export const describeDifferences = (before: JsonObject, after: JsonObject): string =>
  findDifferences(before, after).join(', ') || 'digest'

/** Names of the members that differ; for `spec` and `metadata`, the names one level deeper. */
function findDifferences(before: JsonObject, after: JsonObject, within = ''): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => {
    const [a, b] = [before[name], after[name]]
    if (name === 'digest' || canonicalJson(a ?? null) === canonicalJson(b ?? null)) return []
    // Equal digests mean equal content; the place where a policy was written does not count.
    if (isJsonObject(a) && isJsonObject(b) && a['digest'] !== undefined && a['digest'] === b['digest']) return []
    if (within === '' && (name === 'spec' || name === 'metadata') && isJsonObject(a) && isJsonObject(b))
      return findDifferences(a, b, `${name}.`)
    return [within + name]
  })
}
