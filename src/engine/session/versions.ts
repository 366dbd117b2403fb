/** Versions that a tree runs or may delegate to, read before a move that needs them. */
import type { VersionId, WorkspaceId } from '../../base/ids.ts'
import { readDuration } from '../../policy/condition/duration.ts'
import type { Run } from '../../spec/run.ts'
import type { BoundAgent, AgentSnapshot } from '../../spec/snapshot.ts'
import type { Store, AgentVersion } from '../../store/store.ts'

export interface VersionLookup {
  of(run: Run): AgentVersion
  childOf(bound: BoundAgent): AgentVersion | undefined
  /** Reads what the runs may need next; the deployed version of late-bound agents is asked each time. */
  prepare(runs: readonly Run[]): Promise<void>
}

/** Versions kept for all sessions; they never change. */
export type VersionCache = Map<string, AgentVersion>

export function createVersions(store: Store, cache: VersionCache, workspaceId: WorkspaceId): VersionLookup {
  const late = new Map<string, AgentVersion | undefined>()
  const load = async (
    key: string,
    read: () => Promise<AgentVersion | undefined>,
  ): Promise<AgentVersion | undefined> => {
    const known = cache.get(key)
    if (known) return known
    const version = await read()
    if (version) {
      cache.set(key, version)
      cache.set(version.id, version)
    }
    return version
  }
  return {
    of(run) {
      const version = cache.get(run.agentVersionId)
      if (!version) throw new Error(`Version ${run.agentVersionId} of run ${run.id} was not prepared.`)
      return version
    },
    childOf: (bound) => (bound.digest === undefined ? late.get(bound.id) : cache.get(keyOf(workspaceId, bound.digest))),
    async prepare(runs) {
      for (const run of runs) {
        const id = run.agentVersionId
        const version = cache.get(id) ?? (await load(id, () => store.version(id)))
        if (run.state.at === 'done') continue
        for (const bound of version?.snapshot.agents ?? []) {
          const { digest } = bound
          if (digest !== undefined)
            await load(keyOf(workspaceId, digest), () => store.versionByDigest(workspaceId, digest))
          else {
            const deployedAs = await deployedId(store, workspaceId, bound.id)
            const deployed = deployedAs && (await load(deployedAs, () => store.version(deployedAs)))
            late.set(bound.id, deployed ?? undefined)
          }
        }
      }
    },
  }
}

const keyOf = (workspace: WorkspaceId, digest: string): string => `${workspace} ${digest}`

async function deployedId(store: Store, workspace: WorkspaceId, name: string): Promise<VersionId | null> {
  return (await store.agents(workspace)).find((agent) => agent.name === name)?.deployedVersionId ?? null
}

/** Milliseconds over which decisions of this agent look at calls of other sessions; 0 when they do not. */
export function lookBackMs({ policies }: AgentSnapshot): number {
  let known = spans.get(policies)
  if (known === undefined) {
    const text = JSON.stringify(policies.entries)
    const windows = [...text.matchAll(/"window":"([^"]*)"/g)].map((match) => readDuration(match[1]!) ?? 0)
    known = text.includes('history.window') ? Math.max(0, ...windows) : 0
    spans.set(policies, known)
  }
  return known
}
const spans = new WeakMap<AgentSnapshot['policies'], number>()
