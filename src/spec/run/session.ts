import type { Instant } from '../../base/clock.ts'
import type { AgentId, RunId, SessionId, VersionId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { CostSum } from '../price.ts'
import type { RunStatusName } from './run.ts'
import type { RunStarter } from './starter.ts'

/**
 * A conversation: root runs that follow each other, each with its sub-agent runs. Version, input, start context, status and output
 * are those of the newest root run. Source: docs/design/steering.md#a-conversation-goes-on
 */
export interface Session extends RunStarter {
  readonly id: SessionId
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly agentName: string
  readonly agentVersionId: VersionId
  readonly versionLabel: string
  readonly llmModel: string | null
  /** The newest root run. */
  readonly rootRunId: RunId
  /** The first root run, where others followed it. */
  readonly entryRunId?: RunId
  readonly status: RunStatusName
  readonly totalTokensUsed: number
  /** Cost of its completions; absent if nothing was billed. */
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
  readonly title?: string
  /** Set by the caller, never shown to the model; absent if not set. Source: docs/design/http.md#sessions-and-lists */
  readonly metadata?: Readonly<Record<string, string>>
  readonly tags?: readonly string[]
  /** When its content was erased; absent if it was not. */
  readonly erasedAt?: Instant
  /** True while an operator exempts it from erasure and retention. */
  readonly legalHold?: true
}
