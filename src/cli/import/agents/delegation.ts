/** Which agent delegates to which. svc has no cycles: the delegation that closes one is left out. */
import { quoteForeign } from '../foreign-text.ts'
import type { LossList } from '../losses.ts'
import type { ForeignAgent } from './foreign-project.ts'

export function planDelegation(
  agents: readonly ForeignAgent[],
  losses: LossList,
): ReadonlyMap<string, readonly string[]> {
  const byName = new Map(agents.map((each) => [each.name, each]))
  const kept = new Map<string, string[]>()
  const visit = (name: string, above: ReadonlySet<string>): void => {
    if (kept.has(name)) return
    const agent = byName.get(name)!
    const path = new Set([...above, name])
    const targets: string[] = []
    for (const target of new Set(agent.agents)) {
      if (!byName.has(target)) losses.add(agent.at, `delegates to ${quoteForeign(target)}, which is not imported`)
      else if (path.has(target))
        losses.add(agent.at, `delegation to ${quoteForeign(target)} closes a cycle and is left out`)
      else {
        visit(target, path)
        targets.push(target)
      }
    }
    kept.set(name, targets)
  }
  for (const { name } of agents) visit(name, new Set())
  return kept
}

/** Levels of delegation below an agent. */
export function delegationDepth(name: string, delegation: ReadonlyMap<string, readonly string[]>): number {
  const depths = new Map<string, number>()
  const depthOf = (each: string): number => {
    const known = depths.get(each)
    if (known !== undefined) return known
    const depth = Math.max(0, ...(delegation.get(each) ?? []).map((target) => 1 + depthOf(target)))
    depths.set(each, depth)
    return depth
  }
  return depthOf(name)
}
