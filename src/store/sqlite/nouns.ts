/** The nouns that both databases share, on SQLite. This process is the only writer, so it may keep rows in memory that each request reads. */
import type { Database } from 'better-sqlite3'
import type { Instant } from '../../base/clock.ts'
import type { AgentId, TriggerId, VersionId, WorkspaceId } from '../../base/ids.ts'
import { SQLITE } from '../dialect.ts'
import { prepareActivity } from '../nouns/activity.ts'
import { prepareActs } from '../nouns/acts.ts'
import { prepareAgents } from '../nouns/versions/agents.ts'
import { prepareApiKeys } from '../nouns/people/api-keys.ts'
import { prepareAttestations } from '../nouns/versions/attestations.ts'
import { prepareCalls } from '../nouns/calls.ts'
import { prepareChainedRows } from '../nouns/chained-rows.ts'
import { prepareCheckpointReports } from '../nouns/checkpoint-reports.ts'
import { prepareConsoleSessions } from '../nouns/people/console-sessions.ts'
import { EARLIER_REQUESTS } from '../nouns/earlier-requests.ts'
import { prepareEffects } from '../nouns/effects.ts'
import { prepareEvaluations } from '../nouns/versions/evaluations.ts'
import { prepareEvents } from '../nouns/events.ts'
import { prepareFiles } from '../nouns/files.ts'
import { prepareNotices } from '../nouns/notices.ts'
import { prepareOperatorKeys } from '../nouns/people/operator-keys.ts'
import { preparePasskeys } from '../nouns/people/passkeys.ts'
import { preparePauses } from '../nouns/pauses.ts'
import { prepareRuns } from '../nouns/runs.ts'
import { prepareSessionLinks } from '../nouns/session-links.ts'
import { prepareSessions } from '../nouns/sessions.ts'
import { prepareSetupRows } from '../nouns/setup-rows.ts'
import { prepareStanding } from '../nouns/standing.ts'
import { prepareSteps } from '../nouns/steps.ts'
import { prepareTaskClaims } from '../nouns/task-claims.ts'
import { prepareTasks } from '../nouns/tasks.ts'
import { prepareTraceMarks } from '../nouns/trace-marks.ts'
import { prepareTriggers } from '../nouns/triggers.ts'
import { prepareVersions } from '../nouns/versions/versions.ts'
import { bindWork, type DatabaseWork, type WorkRunners } from '../statement.ts'
import { createRowCache } from './database/row-cache.ts'
import { createWorkRunner } from './database/run-work.ts'
import type { GroupWriter } from './database/writer.ts'
import type { Store } from '../store.ts'
import type { KeyUses } from './keys.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/**
 * @param restoredAt since when a restore holds a trigger
 * @returns binds the nouns to what writes their rows; all that are bound share the rows in memory
 */
export function prepareNouns(db: Database, keys: KeyUses, restoredAt: (id: TriggerId) => Instant | undefined) {
  const run = createWorkRunner(db)
  const [agents, apiKeys, pauses] = [prepareAgents(), prepareApiKeys(SQLITE), preparePauses(SQLITE)]
  const [triggers, versions] = [prepareTriggers(SQLITE), prepareVersions(SQLITE)]
  const agentRows = createRowCache((id: AgentId) => run(agents.reads.agent(id)))
  const triggerRows = createRowCache((id: TriggerId) => run(triggers.reads.trigger(id)))
  // Of a version only a yank changes anything.
  const versionRows = createRowCache((id: VersionId) => run(versions.reads.version(id)))
  // Every start asks, and the acts of years are many.
  const presentPauses = createRowCache((workspaceId: WorkspaceId) => run(pauses.reads.pauses(workspaceId)))

  return (write: GroupWriter['write']) => {
    const read: WorkRunners['read'] = async (make) => run(make())
    const transact: WorkRunners['transact'] = (make) => write(() => run(make()))
    const runners: WorkRunners = { read, write: transact, transact }
    return {
      ...bindWork(prepareActivity(SQLITE), runners),
      ...bindWork(prepareActs(SQLITE), runners),
      ...bindWork(agents, runners),
      agent: async (id) => agentRows.get(id),
      ...bindWork(apiKeys, runners),
      keys: async (workspaceId) => run(apiKeys.reads.keys(workspaceId)).map(keys.withUse),
      revokeKey: (id, at) => transact(() => clearing(keys, apiKeys.writes.revokeKey(id, at))),
      touchKey: (id, at) => keys.touch(id, at),
      async keyByHash(hash) {
        const key = keys.find(hash)
        return key && { key, trigger: triggerRows.get(key.triggerId), triggerHeldAt: restoredAt(key.triggerId) }
      },
      ...bindWork(prepareAttestations(SQLITE), runners),
      ...bindWork(prepareCalls(SQLITE), runners),
      ...bindWork(prepareCheckpointReports(), runners),
      ...bindWork(prepareConsoleSessions(SQLITE), runners),
      ...bindWork(EARLIER_REQUESTS, runners),
      ...bindWork(prepareEffects(SQLITE), runners),
      ...bindWork(prepareEvaluations(), runners),
      ...bindWork(prepareEvents(SQLITE), runners),
      ...bindWork(prepareFiles(SQLITE), runners),
      ...bindWork(prepareNotices(SQLITE), runners),
      ...bindWork(prepareOperatorKeys(SQLITE), runners),
      ...bindWork(preparePasskeys(SQLITE), runners),
      ...bindWork(pauses, runners),
      pauses: async (workspaceId) =>
        expectDefined(presentPauses.get(workspaceId), 'a list is read for every workspace'),
      // Works on a full disk too: a pause must take effect.
      setPaused: (workspaceId, act) =>
        write(() => run(clearing(presentPauses, pauses.transactions.setPaused(workspaceId, act))), true),
      ...bindWork(prepareRuns(SQLITE), runners),
      ...bindWork(prepareSessionLinks(SQLITE), runners),
      ...bindWork(prepareChainedRows(SQLITE), runners),
      ...bindWork(prepareSetupRows(SQLITE), runners),
      ...bindWork(prepareSessions(SQLITE), runners),
      ...bindWork(prepareSteps(SQLITE), runners),
      ...bindWork(prepareStanding(SQLITE), runners),
      ...bindWork(prepareTasks(SQLITE), runners),
      ...bindWork(prepareTaskClaims(), runners),
      ...bindWork(prepareTraceMarks(SQLITE), runners),
      ...bindWork(triggers, runners),
      trigger: async (id) => triggerRows.get(id),
      updateTrigger: (trigger) => transact(() => clearing(triggerRows, triggers.writes.updateTrigger(trigger))),
      markRefusal: (id, refusal) => transact(() => clearing(triggerRows, triggers.writes.markRefusal(id, refusal))),
      deleteTrigger: (id) => transact(() => clearing(triggerRows, triggers.transactions.deleteTrigger(id))),
      ...bindWork(versions, runners),
      version: async (id) => versionRows.get(id),
      setYanked: (...yank) => transact(() => clearing(versionRows, versions.writes.setYanked(...yank))),
      deploy: (...deployment) => transact(() => clearing(agentRows, versions.transactions.deploy(...deployment))),
    } satisfies Partial<Store>
  }
}

/** Work that changes rows of a cache. */
function* clearing<T>(cache: { clear(): void }, work: DatabaseWork<T>): DatabaseWork<T> {
  cache.clear()
  return yield* work
}
