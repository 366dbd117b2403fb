/** The columns of sessions that saves and starts write. */
import type { Session } from '../../../spec/run/session.ts'
import { toText, toColumnText } from '../../rows/json-column.ts'
import { largeDigest, withoutInput } from '../../rows/session-rows.ts'

/** The columns that a save may change. `turn` names the save. */
export function toChangedColumns(session: Session, busy: boolean, turn: string) {
  const output = toText(session.output)
  return {
    // Of the session as it was read.
    version: session.version,
    status: session.status,
    version_id: session.agentVersionId,
    version_label: session.versionLabel,
    llm_model: session.llmModel,
    total_tokens_used: session.totalTokensUsed,
    run_count: session.runCount,
    output,
    output_digest: output === null ? null : largeDigest(output),
    error: session.error,
    last_seq: session.lastSeq,
    last_ordinal: session.lastOrdinal,
    cost: session.cost === undefined ? null : toText({ ...session.cost }),
    finished_at: session.finishedAt,
    last_turn: turn,
    busy,
  }
}

/** The columns that a start writes. */
export function toStartColumns(session: Session, busy: boolean, turn: string) {
  const input = toColumnText(session.input)
  return {
    ...toChangedColumns(session, busy, turn),
    id: session.id,
    workspace_id: session.workspaceId,
    agent_id: session.agentId,
    agent_name: session.agentName,
    trigger_type: session.triggerType,
    triggered_by: session.triggeredBy,
    person: session.person,
    trigger_id: session.triggerId,
    trigger_name: session.triggerName,
    root_run_id: session.rootRunId,
    input,
    input_digest: largeDigest(input),
    start_context: toText(withoutInput(session)),
    metadata: toText(session.metadata),
    tags: toText(session.tags),
    started_at: session.startedAt,
  }
}
