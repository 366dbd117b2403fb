/** Which changes leave a call decided more loosely, whatever was declared. Source: docs/design/steering.md#migrate */
import { chainsTo, MAX_CHAINS } from './call-authority.ts'
import type { ChangeKind, VersionChange } from './change.ts'
import type { ComparedClosure } from './closure.ts'

/** Removals that need consent at a publication, whatever replaces what goes. */
const REMOVALS: ReadonlySet<ChangeKind> = new Set(['gate.removed', 'default_policy.removed', 'boundary.removed'])

/**
 * The widening changes, without removals where every call of the later version is proven equal or tighter: a denial in place of
 * a question removes the question, and is tighter. A removal counts where calls exist that were not compared: those of
 * late-bound agents, and of agents below other ancestors than before.
 */
export function looserCalls(
  before: ComparedClosure,
  after: ComparedClosure,
  changes: readonly VersionChange[],
): readonly VersionChange[] {
  const widening = changes.filter(({ widens }) => widens)
  const isOnlyRemoved = widening.every(({ kind }) => REMOVALS.has(kind))
  return isOnlyRemoved && areAllCompared(before, after) ? [] : widening
}

function areAllCompared(before: ComparedClosure, after: ComparedClosure): boolean {
  const agents = [...after.agents.values()]
  if (agents.some((agent) => agent.agents.some(({ lateBound }) => lateBound))) return false
  return agents.every(({ id }) => {
    const [old, now] = [before, after].map((closure) =>
      chainsTo(closure, id).map((chain) => chain.map((each) => each.id).join(' ')),
    ) as [string[], string[]]
    return now.length < MAX_CHAINS && now.every((chain) => old.includes(chain))
  })
}
