/** Version numbers and the changes they announce. Source: docs/design/bundles-and-authority.md#what-a-change-requires */
import { gt, inc, parse } from 'semver'
import type { ChangeSeverity } from '../../authority/change.ts'

const RANK: Readonly<Record<ChangeSeverity, number>> = { patch: 1, minor: 2, major: 3 }

/** The smallest version after `latest` that may contain a change. Before 1.0.0, minor replaces major. */
export function leastVersion(latest: string, required: ChangeSeverity): string {
  return inc(latest, requiredBump(latest, required)) ?? latest
}

/** The bump that a change requires of a version after `latest`. Before 1.0.0, minor replaces major. */
export const requiredBump = (latest: string, change: ChangeSeverity): ChangeSeverity =>
  parse(latest)?.major === 0 && change === 'major' ? 'minor' : change

/** The bump from one version to the next; null if the version did not rise. */
export function bumpBetween(latest: string, next: string): ChangeSeverity | null {
  const [from, to] = [parse(latest), parse(next)]
  if (!from || !to || !gt(to, from)) return null
  if (to.major !== from.major) return 'major'
  return to.minor !== from.minor ? 'minor' : 'patch'
}

/** True if `next` announces a change of this severity. */
export function announcesChange(latest: string, next: string, required: ChangeSeverity): boolean {
  const bump = bumpBetween(latest, next)
  return bump !== null && RANK[bump] >= RANK[requiredBump(latest, required)]
}
