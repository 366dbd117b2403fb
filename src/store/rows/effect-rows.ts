import type { Instant } from '../../base/clock.ts'
import type { Digest } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import type { RunId, SessionId, WorkspaceId } from '../../base/ids.ts'
import { mayStillArrive, type EffectRecord, type EffectState } from '../../spec/effect.ts'
import { toValue } from './json-column.ts'

/** Calls of one key that are read: repetitions that people approved. */
export const MAX_OF_KEY = 16

export interface StoredEffect {
  id: string
  workspace_id: WorkspaceId
  key: string
  shown: string
  session_id: SessionId
  run_id: RunId
  call_id: string
  tool: string
  tool_version: string
  agent: string
  agent_version: string
  arguments_digest: Digest
  at: number
  not_after: number
  expires_at: number | null
  state: EffectState
  result: string | null
  approved_by: string
  replaces: string | null
  holds: number
  released_at: number | null
  released_by: string | null
  release_reason: string | null
}

export const toEffect = (row: StoredEffect): EffectRecord => ({
  id: row.id,
  workspaceId: row.workspace_id,
  key: row.key,
  shown: row.shown,
  sessionId: row.session_id,
  runId: row.run_id,
  callId: row.call_id,
  tool: row.tool,
  toolVersion: row.tool_version,
  agent: row.agent,
  agentVersion: row.agent_version,
  argumentsDigest: row.arguments_digest,
  at: row.at,
  notAfter: row.not_after,
  expiresAt: row.expires_at,
  state: row.state,
  holds: row.holds === 1,
  ...(row.result !== null && { result: toValue(row.result) }),
  approvedBy: toValue(row.approved_by) as string[],
  replaces: row.replaces,
  ...(row.released_at !== null && {
    released: { at: row.released_at, by: row.released_by ?? '', reason: row.release_reason ?? '' },
  }),
})

/** @throws Failure `effect_in_flight` where one of the calls may still arrive: its key cannot be released */
export function refuseInFlight(standing: readonly EffectRecord[], now: Instant): void {
  const inFlight = standing.find((each) => mayStillArrive(each, now))
  if (inFlight) throw fail('effect_in_flight', { key: inFlight.shown, runId: inFlight.runId })
}
