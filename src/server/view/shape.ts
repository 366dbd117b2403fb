/** Converts rows of the store to bodies of the API. Source: docs/design/http.md#what-is-demanded */
import { toIsoText, isoOrNull, type Instant } from '../../base/clock.ts'
import { toSessionBody } from '../../engine/interface/timeline.ts'
import type { PendingAnswer, RunStatusBody, SessionListItem } from '../../spec/api.ts'
import type { RunHold } from '../../spec/run/hold.ts'
import type { Principal } from '../../spec/people/key.ts'
import { isTerminal, originFields, type Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { SessionStore } from '../../store/session-store.ts'

/**
 * When the content of a run was erased. Only what has none left is looked up, so that polling reads the run alone.
 * Source: docs/design/http.md#scope
 */
export async function readErasure(store: SessionStore, run: Run): Promise<Instant | undefined> {
  const mayBeErased = isTerminal(run.status) && run.output === null && run.error === null
  return mayBeErased ? (await store.session(run.sessionId))?.erasedAt : undefined
}

/**
 * @param hold as `readHold` found it
 * @param pending what it waits for, as the caller may see it
 * @param erasedAt as `readErasure` found it
 */
export const toRunStatus = (
  run: Run,
  hold: RunHold | undefined,
  pending: readonly PendingAnswer[],
  principal: Principal,
  erasedAt: Instant | undefined,
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
  ...(erasedAt !== undefined && { erasedAt: toIsoText(erasedAt) }),
})

export const toSessionListItem = (session: Session): SessionListItem => ({
  ...toSessionBody(session),
  rootRunId: session.rootRunId,
  runCount: session.runCount,
  entryRunId: session.entryRunId ?? session.rootRunId,
})
