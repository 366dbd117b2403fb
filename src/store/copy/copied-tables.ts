/** Every copied table, referenced tables first. */
import { ACTS } from '../nouns/acts.ts'
import { API_KEYS } from '../nouns/people/api-keys.ts'
import { ATTESTATIONS, TRUST_DOCUMENTS } from '../nouns/versions/attestations.ts'
import { CHECKPOINT_REPORTS } from '../nouns/checkpoint-reports.ts'
import { CONSOLE_SESSIONS } from '../nouns/people/console-sessions.ts'
import { EFFECTS } from '../nouns/effects.ts'
import { EVALUATIONS } from '../nouns/versions/evaluations.ts'
import { FILES } from '../nouns/files.ts'
import { NOTICES } from '../nouns/notices.ts'
import { OPERATOR_KEYS } from '../nouns/people/operator-keys.ts'
import { ONE_TIME_TOKENS, PASSKEYS } from '../nouns/people/passkeys.ts'
import { PAUSE_ACTS } from '../nouns/pauses.ts'
import { STANDING_ACTS } from '../nouns/standing.ts'
import { TASK_CLAIMS } from '../nouns/task-claims.ts'
import { TRIGGERS } from '../nouns/triggers.ts'
import { toColumns, type CopiedTable } from './copied-table.ts'

const WORKSPACE_OF_AGENT = { workspace_id: '(select workspace_id from agent where n = t.agent_n)' }

const definitions: readonly CopiedTable[] = [
  { name: 'agent', columns: toColumns({ text: 'id workspace_id name' }), order: ['id'] },
  {
    name: 'version',
    columns: toColumns({
      text: 'id agent_id→agent label digest closure_digest snapshot published_by message yank_reason',
      integer: 'published_at',
      boolean: 'yanked',
    }),
    order: ['n'],
    isHeavy: true,
  },
  {
    name: 'document',
    columns: toColumns({ text: 'workspace_id kind id version digest document published_by', integer: 'published_at' }),
    order: ['n'],
    isHeavy: true,
  },
  {
    name: 'yanked_document',
    columns: toColumns({ text: 'workspace_id kind id version reason' }),
    order: ['workspace_id', 'kind', 'id', 'version'],
  },
  {
    name: 'deployment',
    columns: toColumns({
      text: 'agent_id→agent version_id from_version_id deployed_by message',
      integer: 'deployed_at expires_at',
    }),
    order: ['n'],
  },
  { name: 'source_text', columns: toColumns({ text: 'digest text' }), order: ['digest'], isHeavy: true },
  {
    name: 'source_file',
    columns: toColumns({ text: 'workspace_id closure_digest path digest' }),
    order: ['workspace_id', 'closure_digest', 'path'],
  },
  {
    name: 'source_member',
    columns: toColumns({ text: 'workspace_id kind id version closure_digest' }),
    order: ['workspace_id', 'kind', 'id', 'version'],
  },
  {
    name: 'session',
    columns: toColumns(
      {
        uuid: 'id root_run_id entry_run_id',
        text:
          'workspace_id agent_id→agent agent_name version_id version_label llm_model trigger_type triggered_by person trigger_id ' +
          'trigger_name status input input_digest start_context output output_digest error title metadata tags cost',
        integer:
          'total_tokens_used run_count started_at finished_at erased_at restored_at version last_seq last_ordinal epoch',
        boolean: 'legal_hold busy',
      },
      {
        ...WORKSPACE_OF_AGENT,
        restored_at: '(select at from restored_session where session_n = t.n)',
      },
    ),
    order: ['n'],
    // Copies no leases, so that a server of the copy can take every session at once.
    afterSqlite: `insert into restored_session (session_n, at)
      select n, :restored_at from session where id = :id and :restored_at is not null`,
  },
  {
    name: 'session_tag',
    columns: toColumns({ uuid: 'session_id→session', text: 'agent_id→agent tag', integer: 'started_at' }),
    order: ['session_id', 'tag'],
    derived: { session_n: '(select n from session where id = p.session_id)' },
  },
  {
    name: 'run',
    columns: toColumns(
      {
        uuid: 'id session_id→session parent_run_id',
        text:
          'workspace_id agent_id→agent tail agent_name version_id version_label llm_model parent_call_id input state status usage ' +
          'output error error_code starter origin',
        integer: 'depth last_sequence started_at finished_at',
      },
      WORKSPACE_OF_AGENT,
    ),
    order: ['n'],
    derived: {
      starter_trigger_id: `p.starter::json ->> 'triggerId'`,
      origin_run_id: `(p.origin::json ->> 'runId')::uuid`,
    },
  },
  { name: 'large_result', columns: toColumns({ text: 'digest result' }), order: ['digest'], isHeavy: true },
  {
    name: 'step',
    columns: toColumns({
      uuid: 'session_id→session run_id→run id',
      text: 'type content result_digest hidden error',
      integer: 'ordinal sequence tokens_used started_at finished_at',
    }),
    order: ['session_id', 'ordinal'],
    isOfSession: true,
  },
  {
    name: 'event',
    columns: toColumns({
      uuid: 'session_id→session run_id→run',
      text: 'kind subject data',
      integer: 'seq ts ordinal',
    }),
    order: ['session_id', 'seq'],
    isOfSession: true,
  },
  {
    name: 'session_link',
    columns: toColumns({
      uuid: 'session_id→session',
      text: 'content_digest salt row_digests hash',
      integer: 'version seq events ordinal steps',
    }),
    order: ['session_id', 'version'],
    isOfSession: true,
  },
  {
    name: 'call',
    columns: toColumns(
      {
        uuid: 'session_id→session run_id→run',
        text: 'call_id workspace_id agent_id→agent ref arguments_digest arguments state idempotency_key',
        integer: 'attempt at',
      },
      WORKSPACE_OF_AGENT,
    ),
    order: ['session_id', 'run_id', 'call_id'],
    isOfSession: true,
  },
  {
    name: 'kept_call',
    columns: toColumns({
      uuid: 'session_id run_id',
      text: 'agent_id→agent call_id ref arguments_digest state idempotency_key',
      integer: 'attempt at',
    }),
    order: ['n'],
  },
  {
    name: 'user_task',
    columns: toColumns(
      {
        uuid: 'session_id→session run_id→run',
        text: 'id tail workspace_id agent_id scope_agent_id→agent scope_trigger_id kind status call_id body',
        integer: 'expires_at created_at',
      },
      {
        workspace_id: '(select a.workspace_id from run r join agent a on a.n = r.agent_n where r.n = t.run_n)',
        agent_id: '(select a.id from run r join agent a on a.n = r.agent_n where r.n = t.run_n)',
      },
    ),
    order: ['n'],
  },
  {
    name: 'vote',
    columns: toColumns({ text: 'task_id→user_task approver comment', integer: 'at', boolean: 'approved voided' }),
    order: ['n'],
  },
  {
    name: 'timer',
    columns: toColumns({ uuid: 'session_id→session run_id→run', text: 'kind ref', integer: 'at' }),
    order: ['session_id', 'run_id', 'kind', 'ref'],
    isOfSession: true,
  },
  {
    name: 'idempotency',
    columns: toColumns({ text: 'principal route key body_digest response', integer: 'expires_at' }),
    order: ['principal', 'route', 'key'],
  },
  {
    name: 'rate_bucket',
    columns: toColumns({ text: 'trigger_id span', integer: 'full_at' }),
    order: ['trigger_id', 'span'],
  },
  {
    name: 'plan_day',
    columns: toColumns({ text: 'workspace_id', integer: 'day runs tokens' }),
    order: ['workspace_id', 'day'],
    sums: ['runs', 'tokens'],
  },
  {
    name: 'plan_reservation',
    columns: toColumns(
      { uuid: 'run_id→run session_id', text: 'workspace_id currency', integer: 'tokens', decimal: 'amount' },
      { session_id: '(select s.id from run r join session s on s.n = r.session_n where r.n = t.run_n)' },
    ),
    order: ['run_id'],
  },
  {
    name: 'cost_day',
    columns: toColumns({
      text: 'workspace_id agent_id→agent version provider model currency',
      integer:
        'day completions unpriced input_tokens cached_input_tokens cache_write_tokens output_tokens reasoning_tokens',
      decimal: 'amount',
    }),
    order: ['workspace_id', 'day', 'agent_id', 'version', 'provider', 'model', 'currency'],
    sums: [
      'completions',
      'unpriced',
      'input_tokens',
      'cached_input_tokens',
      'cache_write_tokens',
      'output_tokens',
      'reasoning_tokens',
      'amount',
    ],
  },
  {
    name: 'run_trigger',
    columns: [
      ...TRIGGERS.columns,
      ...toColumns(
        { integer: 'ticked_at restored_at' },
        { restored_at: '(select at from restored_trigger where trigger_id = t.id)' },
      ),
    ],
    order: ['n'],
    afterSqlite: `insert into restored_trigger (trigger_id, at) select :id, :restored_at where :restored_at is not null`,
  },
  {
    name: 'api_key',
    columns: API_KEYS.columns,
    order: ['n'],
  },
  {
    name: 'operator_key',
    columns: OPERATOR_KEYS.columns,
    order: ['n'],
  },
  {
    name: 'console_session',
    columns: CONSOLE_SESSIONS.columns,
    order: ['n'],
  },
  {
    name: 'trust_document',
    columns: TRUST_DOCUMENTS.columns,
    order: ['workspace_id', 'version'],
  },
  {
    name: 'attestation',
    columns: ATTESTATIONS.columns,
    order: ['workspace_id', 'digest'],
  },
  {
    name: 'evaluation',
    columns: EVALUATIONS.columns,
    order: ['id'],
  },
  {
    name: 'checkpoint_report',
    columns: CHECKPOINT_REPORTS.columns,
    order: ['workspace_id'],
  },
  {
    name: 'passkey',
    columns: PASSKEYS.columns,
    order: ['n'],
  },
  {
    name: 'one_time_token',
    columns: ONE_TIME_TOKENS.columns,
    order: ['hash'],
  },
  {
    name: 'file',
    columns: FILES.columns,
    order: ['n'],
  },
  {
    name: 'file_total',
    columns: toColumns({ text: 'workspace_id', integer: 'files bytes' }),
    order: ['workspace_id'],
  },
  {
    name: 'effect',
    columns: EFFECTS.columns,
    order: ['id'],
  },
  {
    name: 'task_claim',
    columns: TASK_CLAIMS.columns,
    order: ['task_id', 'operator'],
  },
  {
    name: 'notice',
    columns: NOTICES.columns,
    order: ['n'],
  },
  {
    name: 'trace_mark',
    columns: toColumns({ uuid: 'session_id', text: 'workspace_id', integer: 'sent ready due_at since' }),
    order: ['session_id'],
  },
  {
    name: 'history_fence',
    columns: toColumns({ text: 'workspace_id', integer: 'version' }),
    order: ['workspace_id'],
  },
  {
    name: 'standing_act',
    columns: STANDING_ACTS.columns,
    order: ['n'],
  },
  {
    name: 'pause_act',
    columns: PAUSE_ACTS.columns,
    order: ['n'],
  },
  {
    name: 'act',
    columns: ACTS.columns,
    order: ['workspace_id', 'seq'],
  },
  // After the sessions: those that begin while it is there are held.
  { name: 'restore', columns: toColumns({ integer: 'at backed_up_at released_at asks_until' }), order: ['at'] },
]

/** Agents and versions reference each other, so deployed versions are set at the end. */
const deployed: CopiedTable = {
  name: 'agent',
  columns: toColumns({ text: 'id deployed_version_id previous_version_id', integer: 'deployed_until' }),
  order: ['id'],
  update: true,
  where: 'deployed_version_id is not null or previous_version_id is not null',
}

export const COPIED_TABLES: readonly CopiedTable[] = [...definitions, deployed]
