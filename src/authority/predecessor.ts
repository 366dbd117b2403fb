/** Which published version a new one is compared with. Source: docs/design/bundles-and-authority.md#what-a-change-requires */
import { lte, prerelease, rcompare } from 'semver'

/**
 * The release to compare a version with: the highest one that is not above it, else the highest of all. Prereleases do not
 * count.
 */
export function findPredecessor(versions: readonly string[], next: string): string | undefined {
  const releases = versions.filter((each) => prerelease(each) === null).sort(rcompare)
  return releases.find((each) => lte(each, next)) ?? releases[0]
}
