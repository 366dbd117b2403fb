/**
 * What every move changes, with some of it changed. Written out: V8 gives the copy that a spread makes a shape that follows
 * from the one it was made of, so a copy of a copy has yet another. After a few moves of a session no two runs would be of one
 * shape, and to read or copy one costs ten times as much.
 */
import type { Run, RunUsage } from '../../spec/run.ts'
import type { Session } from '../../spec/session.ts'

type Changing = Pick<
  Run,
  'state' | 'status' | 'usage' | 'lastSequence' | 'output' | 'error' | 'errorCode' | 'finishedAt'
>

export const changedRun = (
  run: Run,
  {
    state = run.state,
    status = run.status,
    usage = run.usage,
    lastSequence = run.lastSequence,
    output = run.output,
    error = run.error,
    errorCode = run.errorCode,
    finishedAt = run.finishedAt,
  }: Partial<Changing>,
): Run => ({
  id: run.id,
  sessionId: run.sessionId,
  workspaceId: run.workspaceId,
  agentId: run.agentId,
  agentName: run.agentName,
  agentVersionId: run.agentVersionId,
  versionLabel: run.versionLabel,
  llmModel: run.llmModel,
  parentRunId: run.parentRunId,
  parentCallId: run.parentCallId,
  depth: run.depth,
  input: run.input,
  state,
  status,
  usage,
  lastSequence,
  output,
  error,
  errorCode,
  startedAt: run.startedAt,
  finishedAt,
})

/** @param change says nothing of waits: those are `waits.ts`'s to begin and to end */
export const changedUsage = (
  usage: RunUsage,
  {
    inputTokens = usage.inputTokens,
    outputTokens = usage.outputTokens,
    iterations = usage.iterations,
    grants = usage.grants,
    outputAttempts = usage.outputAttempts,
    tainted = usage.tainted,
    refusals = usage.refusals,
  }: Partial<UsageChange>,
): RunUsage => ({
  inputTokens,
  outputTokens,
  iterations,
  waitedMs: usage.waitedMs,
  waitingSince: usage.waitingSince,
  grants,
  outputAttempts,
  tainted,
  refusals,
  ...(usage.heldMs !== undefined && { heldMs: usage.heldMs }),
  ...(usage.onLimit && { onLimit: usage.onLimit }),
})

/** What moves of the run itself count. */
export type UsageChange = Omit<RunUsage, 'waitedMs' | 'waitingSince' | 'heldMs' | 'onLimit'>

type ChangingSession = Pick<
  Session,
  'status' | 'totalTokensUsed' | 'runCount' | 'output' | 'error' | 'finishedAt' | 'version' | 'lastSeq' | 'lastOrdinal'
>

export const changedSession = (
  session: Session,
  {
    status = session.status,
    totalTokensUsed = session.totalTokensUsed,
    runCount = session.runCount,
    output = session.output,
    error = session.error,
    finishedAt = session.finishedAt,
    version = session.version,
    lastSeq = session.lastSeq,
    lastOrdinal = session.lastOrdinal,
  }: Partial<ChangingSession>,
): Session => ({
  id: session.id,
  workspaceId: session.workspaceId,
  agentId: session.agentId,
  agentName: session.agentName,
  agentVersionId: session.agentVersionId,
  versionLabel: session.versionLabel,
  llmModel: session.llmModel,
  triggerType: session.triggerType,
  triggeredBy: session.triggeredBy,
  person: session.person,
  triggerId: session.triggerId,
  triggerName: session.triggerName,
  rootRunId: session.rootRunId,
  status,
  totalTokensUsed,
  runCount,
  output,
  error,
  input: session.input,
  startContext: session.startContext,
  startedAt: session.startedAt,
  finishedAt,
  version,
  lastSeq,
  lastOrdinal,
})
