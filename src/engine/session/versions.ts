/** Agent versions that a session runs or may delegate to, loaded before a transition needs them. */
import type { Clock, Instant } from '../../base/clock.ts'
import type { VersionId, WorkspaceId } from '../../base/ids.ts'
import { comparesFact } from '../../policy/condition/condition.ts'
import { readDuration } from '../../policy/condition/duration.ts'
import type { Run } from '../../spec/run/run.ts'
import type { BoundAgent, AgentSnapshot } from '../../spec/snapshot.ts'
import type { CatalogStore } from '../../store/catalog-store.ts'
import type { AgentVersion } from '../../store/version-rows.ts'

export interface VersionLookup {
  of(run: Run): AgentVersion
  /** Undefined for one that was not prepared, or is gone from the store. */
  find(id: VersionId): AgentVersion | undefined
  /** Undefined also for a late-bound agent of which nothing is deployed, or whose deployment has ended. */
  childOf(bound: BoundAgent): AgentVersion | undefined
  /**
   * Loads the versions that the runs may need next; deployed versions of late-bound agents are read each time.
   * @param also versions that a run is about to execute
   */
  prepare(runs: readonly Run[], also?: readonly VersionId[]): Promise<void>
}

/** Versions for all sessions, by id and by digest. Never invalidated: a version does not change. */
export type VersionCache = Map<string, AgentVersion>

export function createVersions(
  { store, clock }: { readonly store: CatalogStore; readonly clock: Clock },
  cache: VersionCache,
  workspaceId: WorkspaceId,
): VersionLookup {
  const deployedVersions = new Map<string, AgentVersion | undefined>()
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
  const prepareChildren = async (version: AgentVersion | undefined): Promise<void> => {
    for (const bound of version?.snapshot.agents ?? []) {
      const { digest } = bound
      if (digest !== undefined) await load(keyOf(workspaceId, digest), () => store.versionByDigest(workspaceId, digest))
      else {
        const deployedAs = await deployedId(store, workspaceId, bound.id, clock.now())
        const deployed = deployedAs && (await load(deployedAs, () => store.version(deployedAs)))
        deployedVersions.set(bound.id, deployed ?? undefined)
      }
    }
  }
  return {
    of(run) {
      const version = cache.get(run.agentVersionId)
      if (!version) throw new Error(`Version ${run.agentVersionId} of run ${run.id} was not prepared.`)
      return version
    },
    find: (id) => cache.get(id),
    childOf: (bound) =>
      bound.digest === undefined ? deployedVersions.get(bound.id) : cache.get(keyOf(workspaceId, bound.digest)),
    async prepare(runs, also = []) {
      const working = new Set(also)
      for (const { state, agentVersionId } of runs) if (state.at !== 'done') working.add(agentVersionId)
      for (const id of new Set([...runs.map(({ agentVersionId }) => agentVersionId), ...also])) {
        const version = cache.get(id) ?? (await load(id, () => store.version(id)))
        if (working.has(id)) await prepareChildren(version)
      }
    },
  }
}

const keyOf = (workspace: WorkspaceId, digest: string): string => `${workspace} ${digest}`

/** @returns null also where the deployment has ended. Source: docs/design/trust.md#deployments */
async function deployedId(
  store: CatalogStore,
  workspace: WorkspaceId,
  name: string,
  now: Instant,
): Promise<VersionId | null> {
  const agent = (await store.agents(workspace)).find((each) => each.name === name)
  return !agent || (agent.deployedUntil !== null && now >= agent.deployedUntil) ? null : agent.deployedVersionId
}

/** The facts beyond their run that the policies of an agent read. */
export interface LookBack {
  /** True where calls of the whole session count, however old they are. */
  readonly countsSession: boolean
  /** Longest window in milliseconds over which calls of other sessions are counted; 0 without any. */
  readonly ms: number
  /** True where calls of all agents count. */
  readonly isWide: boolean
  /** Names of standing authorities that an operator may end. */
  readonly standing: readonly string[]
}

export function lookBackOf({ policies }: AgentSnapshot): LookBack {
  let found = lookBacks.get(policies)
  if (found === undefined) {
    const text = JSON.stringify(policies.entries.map(({ when }) => when))
    const windows = (text.match(/(?<="window":")[^"]*/g) ?? []).map((window) => readDuration(window) ?? 0)
    const isWide = text.includes('history.workspace')
    found = {
      countsSession: text.includes('history.session'),
      ms: isWide || text.includes('history.window') ? Math.max(0, ...windows) : 0,
      isWide,
      standing: policies.entries.flatMap(({ obligations }) => obligations.standing ?? []),
    }
    lookBacks.set(policies, found)
  }
  return found
}
/** True if a policy of the agent reads the sources of an argument. */
export function asksSource({ policies }: AgentSnapshot): boolean {
  let asks = sourceQuestions.get(policies)
  if (asks === undefined) {
    asks = policies.entries.some(({ when }) => when !== undefined && comparesFact(when, 'source'))
    sourceQuestions.set(policies, asks)
  }
  return asks
}
const sourceQuestions = new WeakMap<AgentSnapshot['policies'], boolean>()

const lookBacks = new WeakMap<AgentSnapshot['policies'], LookBack>()
