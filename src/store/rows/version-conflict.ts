import { fail } from '../../base/failure.ts'
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

/** @throws Failure `version_exists` where there is a conflict; its details name all of them */
export function refuseConflicts(conflicts: readonly VersionConflict[]): void {
  const [first] = conflicts
  if (!first) return
  throw fail(
    'version_exists',
    { ...first, others: conflicts.length - 1 },
    {
      details: conflicts.map(({ id, version, differs }) => ({
        path: `${id}@${version}`,
        message: `differs in ${differs}`,
      })),
    },
  )
}
