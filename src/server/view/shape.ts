/** Converts rows of the store to bodies of the API. Source: HTTP API, "Resources and their fields"; decisions, section 5. */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { toSessionBody } from '../../engine/session/timeline.ts'
import type { PendingAnswer, RunStatusBody, SessionListItem } from '../../spec/api.ts'
import type { RunHold } from '../../spec/hold.ts'
import type { Principal } from '../../spec/key.ts'
import { originFields, type Run } from '../../spec/run.ts'
import type { Session } from '../../spec/session.ts'

/**
 * @param hold as `readHold` found it
 * @param pending what it waits for, as the caller may see it
 */
export const toRunStatus = (
  run: Run,
  hold: RunHold | undefined,
  pending: readonly PendingAnswer[],
  principal: Principal,
): RunStatusBody => ({
  runId: run.id,
  status: run.status,
  output: run.output,
  ...(run.error !== null && { error: run.error }),
  ...(run.errorCode !== null && { errorCode: run.errorCode }),
  sessionId: run.sessionId,
  agentId: run.agentId,
  agentVersionId: run.agentVersionId,
  versionLabel: run.versionLabel,
  totalTokensUsed: run.usage.inputTokens + run.usage.outputTokens,
  startedAt: toIsoText(run.startedAt),
  finishedAt: isoOrNull(run.finishedAt),
  // The operator's own prices are not shown to keys.
  ...(principal.type === 'operator' && run.usage.cost && { cost: run.usage.cost }),
  ...(hold && { hold }),
  ...originFields(run),
  pending,
})

export const toSessionListItem = (session: Session): SessionListItem => ({
  ...toSessionBody(session),
  rootRunId: session.rootRunId,
  runCount: session.runCount,
  entryRunId: session.entryRunId ?? session.rootRunId,
})
