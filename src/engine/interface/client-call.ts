/** Calls of a client for which an agent stands: what it asks, and what it is told. Source: docs/design/gate.md#answers */
import type { Instant } from '../../base/clock.ts'
import type { AgentId, RunId, SessionId, TaskId, WorkspaceId } from '../../base/ids.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { Principal } from '../../spec/people/key.ts'
import type { RunHold } from '../../spec/run/hold.ts'
import type { CallOutcome } from '../../spec/run/run.ts'
import type { BoundTool } from '../../spec/snapshot.ts'
import type { ToolMedia } from '../../spec/tool-media.ts'
import type { StartLimits } from '../../store/start-outcome.ts'

/** A client's conversation. The same three name the same session, and no other principal reaches it. */
export interface ClientConversation {
  readonly workspaceId: WorkspaceId
  readonly agentId: AgentId
  readonly principal: Principal
  /** The client's own name of its conversation. */
  readonly conversation: string
}

export interface ClientCall extends ClientConversation {
  /** Names the call in its conversation: a call with the same id is the same call, which is made once. */
  readonly callId: string
  /** The client gave the call no id: an open call of the conversation with the same tool and arguments is meant, where there is one. */
  readonly isUnnamed?: boolean
  /** Wire name of the tool. */
  readonly tool: string
  readonly arguments: JsonValue
  /** Of the run that the first call of a conversation starts. */
  readonly limits: StartLimits
  /** Kept with the session, never decided by. */
  readonly metadata?: Readonly<Record<string, string>>
}

/** How far the caller waits. */
export interface ClientPatience {
  /** Aborts when the caller waits no longer; it then gets what is known. */
  readonly signal: AbortSignal
  /** True where it wants to know at once that a person decides. */
  readonly leavesForPerson?: boolean
}

/** What became of a client's call so far. */
export type ClientCallAnswer = {
  readonly sessionId: SessionId
  readonly runId: RunId
  readonly callId: string
} & ClientCallState

export type ClientCallState =
  | {
      readonly at: 'settled'
      readonly outcome: CallOutcome
      /** As the tool gave it; for a call that was not made, `error` and `message` say why. */
      readonly result: JsonValue
      readonly isError: boolean
      readonly media: readonly ToolMedia[]
      /** The arguments that were sent, where a person had changed those of the client. */
      readonly editedArguments?: JsonValue
      /** True where it was made before, under the same effect key, and this is the result of that time. */
      readonly repeated?: true
    }
  /** A person decides whether it is made, or answers its server; `until` is when the task decides itself. */
  | {
      readonly at: 'asking'
      readonly taskId: TaskId
      readonly title: string
      readonly until?: Instant
      readonly answersServer?: true
    }
  /** It was sent and may have happened. A person finds out; it is not sent again meanwhile. */
  | { readonly at: 'unknown'; readonly taskId?: TaskId }
  /** Something that it needs is paused or out of reach. */
  | { readonly at: 'held'; readonly hold: RunHold }
  /** It is under way, or waits for its turn. */
  | { readonly at: 'working' }
  /** Its run ended before it was made. */
  | { readonly at: 'stopped'; readonly message: string }

/** A tool that a client may call. */
export interface ClientTool {
  readonly tool: BoundTool
  readonly description: string
  readonly inputSchema: JsonObject
}

export interface ClientGate {
  /**
   * Makes a call of a client as the agent's policies allow, and waits for its outcome. A call id that the conversation knows makes no
   * other call: the answer is what became of it.
   * @throws Failure `agent_not_external`, `unknown_tool`, `call_id_reused`, `conversation_ended`, `conversation_held`,
   *   `calls_under_way`, and those of a start
   */
  callTool(call: ClientCall, patience: ClientPatience): Promise<ClientCallAnswer>
  /**
   * What became of a call, at the latest when the signal aborts.
   * @throws Failure `not_found` where the conversation has no such call
   */
  findCall(call: ClientConversation & { readonly callId: string }, patience: ClientPatience): Promise<ClientCallAnswer>
  /** Whether the conversation has a call of this id. */
  hasCall(call: ClientConversation & { readonly callId: string }): Promise<boolean>
  /** The tools of an agent, in the order of its document. @throws Failure `agent_not_external`, `no_deployed_version` */
  listTools(
    of: Pick<ClientConversation, 'workspaceId' | 'agentId'>,
    signal: AbortSignal,
  ): Promise<readonly ClientTool[]>
}
