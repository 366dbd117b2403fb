/** The rows of a session as they are stored, for a check against its chain. Source: docs/design/audit.md#rows */
import type { ChainedRow, ChainedSession } from '../../spec/chain/session-link.ts'
import type { RunStarter } from '../../spec/run/starter.ts'
import type { Dialect } from '../dialect.ts'
import {
  toCallRow,
  toEffectRow,
  toInputRow,
  toRunRow,
  toSessionRow,
  toStartRow,
  toTaskRow,
  toVoteRow,
  type CallColumns,
  type EffectColumns,
  type RunColumns,
  type RunTexts,
  type SessionColumns,
  type SessionTexts,
  type TaskColumns,
  type VoteColumns,
} from '../rows/chained-rows.ts'
import { OUTSIDE_AGENT } from '../queries.ts'
import { readRow, readRows, type NounWork } from '../statement.ts'
import { selectChained } from './session-links.ts'

/** Reads of a session that is at work, until one is not overtaken by a save. */
const MOST_READS = 5

type SessionRow = SessionColumns &
  SessionTexts &
  RunStarter & {
    readonly input: string
    readonly startContext: string
  }
type RunRow = RunColumns & RunTexts
type CallRow = CallColumns & { readonly arguments: string }
type EffectRow = EffectColumns & { readonly approvedBy: string }

interface VoteRow extends Omit<VoteColumns, 'approved'> {
  readonly approved: boolean | 0 | 1
  readonly voided: boolean | 0 | 1
}

export function prepareChainedRows(dialect: Dialect): NounWork<'sessionRows', never> {
  const { column, find, idOf, key, owner } = dialect
  const ofSession = (alias: string): string => `${alias}.${column('session')} = ${find('session', 'sessionId')}`
  const version = (
    alias: string,
  ): string => `${alias}.agent_name as "agentName", ${alias}.version_id as "agentVersionId",
      ${alias}.version_label as "versionLabel", ${alias}.llm_model as "llmModel"`
  const chained = `${selectChained(dialect)} where s.id = :sessionId`
  const saved = 'select version from session where id = :sessionId'
  const session = `select ${owner('s').agent} as "agentId", ${version('s')}, s.root_run_id as "rootRunId",
      s.entry_run_id as "entryRunId", s.status, s.total_tokens_used as "totalTokensUsed", s.run_count as "runCount", s.error,
      s.started_at as "startedAt", s.finished_at as "finishedAt", s.last_seq as "lastSeq", s.last_ordinal as "lastOrdinal", s.output,
      s.cost, s.trigger_type as "triggerType", s.triggered_by as "triggeredBy", s.person, s.trigger_id as "triggerId",
      s.trigger_name as "triggerName", s.input, s.start_context as "startContext"
    from session s ${owner('s').join}
    where s.id = :sessionId`
  const runs = `select r.id, ${owner('r').agent} as "agentId", ${version('r')}, r.parent_run_id as "parentRunId",
      r.parent_call_id as "parentCallId", r.depth, r.status, r.last_sequence as "lastSequence", r.error, r.error_code as "errorCode",
      r.started_at as "startedAt", r.finished_at as "finishedAt", r.state, r.usage, r.output, r.starter, r.origin, r.input
    from run r ${owner('r').join}
    where ${ofSession('r')}
    order by r.${key}`
  const calls = `select ${idOf('c', 'run')} as "runId", c.call_id as "callId", ${owner('c').agent} as "agentId", c.ref,
      c.arguments_digest as "argumentsDigest", c.arguments, c.state, c.attempt, c.idempotency_key as "idempotencyKey", c.at
    from call c ${owner('c').join}
    where ${ofSession('c')}
    order by c.${column('run')}, c.call_id`
  const scope = key === 'n' ? '(select id from agent where n = t.scope_agent_n)' : 't.scope_agent_id'
  const tasks = `select t.id, ${idOf('t', 'run')} as "runId", t.kind, t.status, t.call_id as "callId", t.expires_at as "expiresAt",
      t.created_at as "createdAt", ${scope} as "scopeAgentId", t.scope_trigger_id as "scopeTriggerId", t.body
    from user_task t
    where ${ofSession('t')}
    order by t.${key}`
  const votes = `select t.id as "taskId", v.approver, v.approved, v.at, v.comment, v.voided
    from vote v join user_task t on t.${key} = v.${column('user_task')}
    where ${ofSession('t')}
    order by v.n`
  // Those that a restore was told of are no calls of svc.
  const effects = `select e.id, e.workspace_id as "workspaceId", e.key, e.shown, e.run_id as "runId", e.call_id as "callId", e.tool,
      e.tool_version as "toolVersion", e.agent, e.agent_version as "agentVersion", e.arguments_digest as "argumentsDigest", e.at,
      e.expires_at as "expiresAt", e.replaces, e.approved_by as "approvedBy"
    from effect e
    where e.session_id = :sessionId and e.agent <> '${OUTSIDE_AGENT}'
    order by e.at, e.id`

  return {
    reads: {
      *sessionRows(sessionId) {
        for (let read = 1; ; read++) {
          const before = yield* readRow<{ version: number }>(saved, { sessionId })
          const ends = yield* readRow<ChainedSession>(chained, { sessionId })
          const head = yield* readRow<SessionRow>(session, { sessionId })
          if (!ends || !head) return undefined
          const allRuns = yield* readRows<RunRow>(runs, { sessionId })
          const allCalls = yield* readRows<CallRow>(calls, { sessionId })
          const allTasks = yield* readRows<TaskColumns>(tasks, { sessionId })
          const allVotes = yield* readRows<VoteRow>(votes, { sessionId })
          const allEffects = yield* readRows<EffectRow>(effects, { sessionId })
          const after = yield* readRow<{ version: number }>(saved, { sessionId })
          const rows =
            after?.version === before?.version ? toRows(head, allRuns, allCalls, allTasks, allVotes, allEffects) : null
          if (rows || read === MOST_READS) return { session: ends, rows }
        }
      },
    },
    writes: {},
    transactions: {},
  }
}

function toRows(
  session: SessionRow,
  runs: readonly RunRow[],
  calls: readonly CallRow[],
  tasks: readonly TaskColumns[],
  allVotes: readonly VoteRow[],
  effects: readonly EffectRow[],
): readonly ChainedRow[] {
  const votes = allVotes.map((vote) => ({ ...vote, approved: Boolean(vote.approved), voided: Boolean(vote.voided) }))
  return [
    toSessionRow(session, session),
    toStartRow(session, session.startContext),
    ...runs.flatMap((run) => [
      ...(run.parentRunId === null
        ? [toInputRow(run.id, run.id === session.rootRunId ? session.input : run.input)]
        : []),
      toRunRow(run, run),
    ]),
    ...calls.map((call) => toCallRow(call, call.arguments)),
    ...tasks.map((task) =>
      toTaskRow(
        task,
        votes.filter(({ taskId, voided }) => taskId === task.id && !voided),
      ),
    ),
    ...votes.map(toVoteRow),
    ...effects.map((effect) => toEffectRow(effect, effect.approvedBy)),
  ]
}
