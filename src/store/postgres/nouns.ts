/** The nouns that both databases share, on PostgreSQL. */
import { POSTGRES } from '../dialect.ts'
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
import { bindWork, type WorkRunners } from '../statement.ts'
import type { Store } from '../store.ts'
import type { SessionHints } from './database/hints.ts'
import type { PostgresKeyUses } from './keys.ts'

/** @param hints tells other processes of claims, which they show too */
export function bindPostgresNouns(runners: WorkRunners, hints: SessionHints, keys: PostgresKeyUses) {
  const apiKeys = bindWork(prepareApiKeys(POSTGRES), runners)
  const claims = bindWork(prepareTaskClaims(), runners)
  return {
    ...bindWork(prepareActivity(POSTGRES), runners),
    ...bindWork(prepareActs(POSTGRES), runners),
    ...bindWork(prepareAgents(), runners),
    ...apiKeys,
    keys: async (workspaceId) => (await apiKeys.keys(workspaceId)).map(keys.withUse),
    keyByHash: keys.keyByHash,
    touchKey: keys.touchKey,
    ...bindWork(prepareAttestations(POSTGRES), runners),
    ...bindWork(prepareCalls(POSTGRES), runners),
    ...bindWork(prepareCheckpointReports(), runners),
    ...bindWork(prepareConsoleSessions(POSTGRES), runners),
    ...bindWork(EARLIER_REQUESTS, runners),
    ...bindWork(prepareEffects(POSTGRES), runners),
    ...bindWork(prepareEvaluations(), runners),
    ...bindWork(prepareEvents(POSTGRES), runners),
    ...bindWork(prepareFiles(POSTGRES), runners),
    ...bindWork(prepareNotices(POSTGRES), runners),
    ...bindWork(prepareOperatorKeys(POSTGRES), runners),
    ...bindWork(preparePasskeys(POSTGRES), runners),
    ...bindWork(preparePauses(POSTGRES), runners),
    ...bindWork(prepareRuns(POSTGRES), runners),
    ...bindWork(prepareSessionLinks(POSTGRES), runners),
    ...bindWork(prepareChainedRows(POSTGRES), runners),
    ...bindWork(prepareSetupRows(POSTGRES), runners),
    ...bindWork(prepareSessions(POSTGRES), runners),
    ...bindWork(prepareSteps(POSTGRES), runners),
    ...bindWork(prepareStanding(POSTGRES), runners),
    ...bindWork(prepareTasks(POSTGRES), runners),
    ...claims,
    async putTaskClaim(claim, task) {
      await claims.putTaskClaim(claim, task)
      hints.changed([task.sessionId])
    },
    async endTaskClaim(task, operator) {
      await claims.endTaskClaim(task, operator)
      hints.changed([task.sessionId])
    },
    ...bindWork(prepareTraceMarks(POSTGRES), runners),
    ...bindWork(prepareTriggers(POSTGRES), runners),
    ...bindWork(prepareVersions(POSTGRES), runners),
  } satisfies Partial<Store>
}
