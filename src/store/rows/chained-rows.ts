/**
 * Rows of a session that later saves overwrite, as the links of its chain cover them: a name, and lines of what is stored. What a save
 * writes and what is read later give the same lines. Source: docs/design/audit.md#rows
 */
import type { Instant } from '../../base/clock.ts'
import type { RunId } from '../../base/ids.ts'
import type { EffectRecord } from '../../spec/effect.ts'
import { AT_WORK, digestOfRow, EFFECT_ROW, type ChainedRow, type RowDigest } from '../../spec/chain/session-link.ts'
import type { CallOutcome, Run } from '../../spec/run/run.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStarter } from '../../spec/run/starter.ts'
import type { TaskRecord, TaskVote } from '../../spec/task.ts'
import type { CallRow, SessionUpdate } from '../session-update.ts'
import { toColumnText, toText } from './json-column.ts'
import { withoutZeros } from './run-rows.ts'
import { withoutInput } from './session-rows.ts'

/** Values of a row that are no JSON, in one line. */
type Values = readonly (string | number | boolean | null)[]

const toRow = (name: string, values: Values, ...texts: readonly (string | null)[]): ChainedRow => ({
  name,
  lines: [toColumnText(values), ...texts.map((text) => text ?? 'null')],
})

const SESSION = 'session'
const nameOfRun = (id: string): string => `run ${id}`
const nameOfCall = ({ runId, callId }: Pick<CallRow, 'runId' | 'callId'>): string => `call ${runId} ${callId}`

export type SessionColumns = Pick<
  Session,
  | 'agentId'
  | 'agentName'
  | 'agentVersionId'
  | 'versionLabel'
  | 'llmModel'
  | 'rootRunId'
  | 'status'
  | 'totalTokensUsed'
  | 'runCount'
  | 'error'
  | 'startedAt'
  | 'finishedAt'
  | 'lastSeq'
  | 'lastOrdinal'
> & { readonly entryRunId?: RunId | null }

/** Columns of JSON, as texts. */
export type SessionTexts = Readonly<Record<'output' | 'cost', string | null>>

export const toSessionRow = (row: SessionColumns, { output, cost }: SessionTexts): ChainedRow =>
  toRow(
    SESSION,
    [
      row.agentId,
      row.agentName,
      row.agentVersionId,
      row.versionLabel,
      row.llmModel,
      row.rootRunId,
      row.entryRunId ?? null,
      row.status,
      row.totalTokensUsed,
      row.runCount,
      row.error,
      row.startedAt,
      row.finishedAt,
      row.lastSeq,
      row.lastOrdinal,
    ],
    output,
    cost,
  )

/** Who started the session, and with what its newest root run began. */
export const toStartRow = (row: RunStarter, startContext: string | null): ChainedRow =>
  toRow('start', [row.triggerType, row.triggeredBy, row.person, row.triggerId, row.triggerName], startContext)

/** Input of a root run. That of the newest one is stored with its session, and moves to its run when another follows. */
export const toInputRow = (rootRunId: string, input: string | null): ChainedRow =>
  toRow(`input ${rootRunId}`, [], input)

export type RunColumns = Pick<
  Run,
  | 'id'
  | 'agentId'
  | 'agentName'
  | 'agentVersionId'
  | 'versionLabel'
  | 'llmModel'
  | 'parentRunId'
  | 'parentCallId'
  | 'depth'
  | 'status'
  | 'lastSequence'
  | 'error'
  | 'errorCode'
  | 'startedAt'
  | 'finishedAt'
>

/** Columns of JSON, as texts. */
export type RunTexts = Readonly<Record<'state' | 'usage' | 'output' | 'starter' | 'origin' | 'input', string | null>>

export const toRunRow = (row: RunColumns, texts: RunTexts): ChainedRow =>
  toRow(
    nameOfRun(row.id),
    [
      row.agentId,
      row.agentName,
      row.agentVersionId,
      row.versionLabel,
      row.llmModel,
      row.parentRunId,
      row.parentCallId,
      row.depth,
      row.status,
      row.lastSequence,
      row.error,
      row.errorCode,
      row.startedAt,
      row.finishedAt,
    ],
    texts.state,
    texts.usage,
    texts.output,
    texts.starter,
    texts.origin,
    // See `toInputRow`.
    row.parentRunId === null ? null : texts.input,
  )

export type CallColumns = Omit<CallRow, 'sessionId' | 'arguments'>

/** @param given arguments, as JSON */
export const toCallRow = (row: CallColumns, given: string): ChainedRow =>
  toRow(
    nameOfCall(row),
    [row.agentId, row.ref, row.argumentsDigest, row.state, row.attempt, row.idempotencyKey, row.at],
    given,
  )

export interface TaskColumns {
  readonly id: string
  readonly runId: string
  readonly kind: string
  readonly status: string
  readonly callId: string | null
  readonly expiresAt: Instant | null
  readonly createdAt: Instant
  readonly scopeAgentId: string | null
  readonly scopeTriggerId: string | null
  /** JSON. */
  readonly body: string
}

export interface VoteColumns extends Omit<TaskVote, 'comment'> {
  readonly taskId: string
  readonly comment: string | null
}

/** @param votes that count, in order */
export const toTaskRow = (row: TaskColumns, votes: readonly VoteColumns[]): ChainedRow =>
  toRow(
    `task ${row.id}`,
    [
      row.runId,
      row.kind,
      row.status,
      row.callId,
      row.expiresAt,
      row.createdAt,
      row.scopeAgentId,
      row.scopeTriggerId,
      ...votes.map(({ approver, at }) => `${at} ${approver}`),
    ],
    row.body,
  )

/** A vote stays where an edit voids it; whether it counts is said by its task. */
export const toVoteRow = ({ taskId, approver, approved, at, comment }: VoteColumns): ChainedRow =>
  toRow(`vote ${taskId} ${at} ${approver}`, [approved, comment])

export type EffectColumns = Omit<
  EffectRecord,
  'sessionId' | 'notAfter' | 'state' | 'holds' | 'result' | 'approvedBy' | 'released'
>

/**
 * Which call took a key, and what it was. What changes later is in the row of the call and in acts.
 * @param approvedBy as JSON
 */
export const toEffectRow = (row: EffectColumns, approvedBy: string): ChainedRow =>
  toRow(
    `${EFFECT_ROW}${row.id}`,
    [
      row.workspaceId,
      storedBegin(row.key),
      storedBegin(row.shown),
      row.runId,
      row.callId,
      row.tool,
      row.toolVersion,
      row.agent,
      row.agentVersion,
      row.argumentsDigest,
      row.at,
      row.expiresAt,
      row.replaces,
    ],
    approvedBy,
  )

/** What both databases keep as it is: one cuts a text at its first NUL, the other replaces it. */
const storedBegin = (text: string): string => /^[^\0\ufffd]*/.exec(text.toWellFormed())?.[0] ?? ''

/** States of a call that only a person, a late report or a resumption changes. */
const SETTLED: ReadonlySet<string> = new Set<CallOutcome | 'unknown'>([
  'executed',
  'failed',
  'denied',
  'rejected',
  'invalid',
  'not_sent',
  'skipped',
  'unknown',
])

/**
 * Rows that a save writes, by name, each with the digest of its lines. A row of what is at work is only named, since the next save
 * overwrites it: a digest of each would take more than all else of a link.
 */
export function toRowDigests(update: SessionUpdate, salt: string): readonly RowDigest[] {
  const { session, runs, calls, tasks, busy } = update
  const rows: RowDigest[] = []
  const add = ({ name, lines }: ChainedRow): void => void rows.push([name, digestOfRow(salt, lines)])
  const addAtWork = (name: string): void => void rows.push([name, AT_WORK])
  // A start of a new session, or of a root run that continues one: only such an update has labels.
  if (session.version === 0 || update.labels !== undefined) {
    add(toStartRow(session, toText(withoutInput(session))))
    add(toInputRow(session.rootRunId, toColumnText(session.input)))
  }
  if (busy) addAtWork(SESSION)
  else add(toSessionRow(session, textsOfSession(session)))
  for (const run of runs)
    if (busy && run.status === 'Running') addAtWork(nameOfRun(run.id))
    else add(toRunRow(run, textsOfRun(run)))
  for (const call of calls)
    if (busy && !SETTLED.has(call.state)) addAtWork(nameOfCall(call))
    else add(toCallRow(call, toColumnText(call.arguments)))
  for (const task of tasks) {
    const votes = task.votes.map((vote): VoteColumns => ({ ...vote, taskId: task.id, comment: vote.comment ?? null }))
    add(toTaskRow(taskColumnsOf(task, update), votes))
    for (const vote of votes) add(toVoteRow(vote))
  }
  for (const change of update.effects ?? []) {
    if (!('take' in change)) continue
    const { approvedBy, ...taken } = change.take
    add(toEffectRow({ ...taken, workspaceId: session.workspaceId }, JSON.stringify(approvedBy)))
  }
  return rows
}

const textsOfSession = ({ output, cost }: Session): SessionTexts => ({
  output: toText(output),
  cost: cost === undefined ? null : toText({ ...cost }),
})

const textsOfRun = ({ state, usage, output, starter, origin, parentRunId, input }: Run): RunTexts => ({
  state: toText(state),
  usage: toText(withoutZeros(usage)),
  output: toText(output),
  starter: starter ? toText({ ...starter }) : null,
  origin: origin ? toText({ ...origin }) : null,
  input: parentRunId === null ? null : toText(input),
})

const taskColumnsOf = (task: TaskRecord, { session }: SessionUpdate): TaskColumns => ({
  ...task,
  callId: task.callId ?? null,
  expiresAt: task.expiresAt ?? null,
  scopeAgentId: session.agentId,
  scopeTriggerId: session.triggerId,
  body: toColumnText({ ...task, votes: undefined }),
})
