import type { SessionId } from '../../base/ids.ts'
import { toColumnText } from '../rows/json-column.ts'
import type { CallRow } from '../session-update.ts'

export const toCallColumns = (sessionId: SessionId, call: CallRow) => ({
  session_id: sessionId,
  run_id: call.runId,
  call_id: call.callId,
  ref: call.ref,
  arguments_digest: call.argumentsDigest,
  arguments: toColumnText(call.arguments),
  state: call.state,
  attempt: call.attempt,
  idempotency_key: call.idempotencyKey,
  at: call.at,
})
