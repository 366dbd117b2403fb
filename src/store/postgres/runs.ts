import type { SessionId } from '../../base/ids.ts'
import type { Run } from '../../spec/run/run.ts'
import { toText } from '../rows/json-column.ts'
import { withoutZeros } from '../rows/run-rows.ts'
import { tailOf } from '../rows/tail.ts'

export const toRunColumns = (sessionId: SessionId, run: Run) => ({
  id: run.id,
  session_id: sessionId,
  workspace_id: run.workspaceId,
  agent_id: run.agentId,
  tail: tailOf(run.id),
  agent_name: run.agentName,
  version_id: run.agentVersionId,
  version_label: run.versionLabel,
  llm_model: run.llmModel,
  parent_run_id: run.parentRunId,
  parent_call_id: run.parentCallId,
  depth: run.depth,
  // The input of the newest root run is stored with its session only, so that no save of the run writes it again.
  input: run.parentRunId === null ? 'null' : toText(run.input),
  state: toText(run.state),
  status: run.status,
  usage: toText(withoutZeros(run.usage)),
  last_sequence: run.lastSequence,
  output: toText(run.output),
  error: run.error,
  error_code: run.errorCode,
  starter: run.starter ? toText({ ...run.starter }) : null,
  starter_trigger_id: run.starter?.triggerId ?? null,
  origin: run.origin ? toText({ ...run.origin }) : null,
  origin_run_id: run.origin?.runId ?? null,
  started_at: run.startedAt,
  finished_at: run.finishedAt,
})
