/** Version numbers and the changes they announce. Source: bundles, section 5. */
import { gt, inc, parse } from 'semver'
import type { Severity } from './change.ts'

const RANK: Readonly<Record<Severity, number>> = { patch: 1, minor: 2, major: 3 }

/** The smallest version after `latest` that may carry a change. For 0.x, minor stands for major. */
export function leastVersion(latest: string, required: Severity): string {
  const zero = parse(latest)?.major === 0
  return inc(latest, zero && required === 'major' ? 'minor' : required) ?? latest
}

/** True when `next` announces a change of this weight. */
export function announces(latest: string, next: string, required: Severity): boolean {
  const [from, to] = [parse(latest), parse(next)]
  if (!from || !to || !gt(to, from)) return false
  const bump: Severity = to.major !== from.major ? 'major' : to.minor !== from.minor ? 'minor' : 'patch'
  return RANK[bump] >= (from.major === 0 && required === 'major' ? RANK.minor : RANK[required])
}
