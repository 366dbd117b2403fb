import type { Instant } from '../base/clock.ts'
import type { AgentId, RunId, SessionId, TriggerId, VersionId, WorkspaceId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { CostSum } from './price.ts'
import type { RunStatusName } from './run.ts'

export type TriggerType = 'api' | 'scheduled' | 'operator'

/** One started execution tree. Its status is its root run's. */
export interface Session {
  readonly id: SessionId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly agentName: string
  readonly agentVersionId: VersionId
  readonly versionLabel: string
  readonly llmModel: string | null
  readonly triggerType: TriggerType
  readonly triggeredBy: string | null
  /** The operator who started it through a key of one command; null = `triggeredBy` says who it was. */
  readonly person: string | null
  readonly triggerId: TriggerId | null
  readonly triggerName: string | null
  readonly rootRunId: RunId
  readonly status: RunStatusName
  readonly totalTokensUsed: number
  /** What its completions cost; absent where nothing was billed. */
  readonly cost?: CostSum
  readonly runCount: number
  readonly output: JsonValue
  readonly error: string | null
  readonly input: JsonObject
  readonly startContext: JsonObject
  readonly startedAt: Instant
  readonly finishedAt: Instant | null
  /** Grows by one with every save; a save names the one it read. */
  readonly version: number
  /** Number of the last event. */
  readonly lastSeq: number
  /** Number of timeline items so far. */
  readonly lastOrdinal: number
  /** Given by the caller, never shown to the model; absent where nobody gave any. Source: decisions, section 17. */
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
}
