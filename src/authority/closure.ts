/** What is compared: an agent version with every agent that it pins. */
import type { CompiledBundle, AgentSnapshot } from '../spec/snapshot.ts'

export interface ComparedClosure {
  readonly root: AgentSnapshot
  /** The root and every pinned agent below it, by `namespace.name`. */
  readonly agents: ReadonlyMap<string, AgentSnapshot>
}

/** The closure of an agent of a compiled bundle. @throws Error if the bundle lacks a member, which compile never leaves out */
export function closureInBundle({ agents }: Pick<CompiledBundle, 'agents'>, id: string): ComparedClosure {
  const found = new Map<string, AgentSnapshot>()
  const visit = (at: string): AgentSnapshot => {
    const snapshot = agents.find((each) => each.id === at)
    if (!snapshot) throw new Error(`${at} is not in the bundle.`)
    if (!found.has(at)) {
      found.set(at, snapshot)
      for (const child of snapshot.agents) if (!child.lateBound) visit(child.id)
    }
    return snapshot
  }
  return { root: visit(id), agents: found }
}

/** The closure of an agent from the registry. @param load a pinned version; undefined = it is missing and left out */
export async function loadClosure(
  root: AgentSnapshot,
  load: (id: string, version: string) => Promise<AgentSnapshot | undefined>,
): Promise<ComparedClosure> {
  const agents = new Map([[root.id, root]])
  // Iterating over a map includes the entries that the loop adds.
  for (const snapshot of agents.values())
    for (const { id, version } of snapshot.agents) {
      const child = version === undefined || agents.has(id) ? undefined : await load(id, version)
      if (child) agents.set(id, child)
    }
  return { root, agents }
}
