/** The facts that transitions may read besides the session: time, ids, versions, routes, slots and calls of other sessions. */
import type { Instant } from '../../base/clock.ts'
import type { IdSource, RunId } from '../../base/ids.ts'
import type { Outage } from '../../spec/run/outage.ts'
import type { ModelTerms } from '../../spec/price.ts'
import type { Run } from '../../spec/run/run.ts'
import type { RunStarter } from '../../spec/run/starter.ts'
import type { BoundAgent, BoundTool, JsonSchema, AgentSnapshot, SnapshotModel } from '../../spec/snapshot.ts'
import type { StoreRestore } from '../../spec/run/restore.ts'
import type { PauseAct } from '../../spec/steer/pause.ts'
import type { RunStep } from '../../spec/step.ts'
import type { CallRow, SpendCap } from '../../store/session-update.ts'
import type { RelatedCalls } from '../session/related-calls.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { ReadEffects } from './effect-ledger.ts'
import type { SpentTokens } from '../session/event.ts'

/**
 * Room for a completion in the plan of the workspace. It counts as `free` until the store says otherwise: `taken` while completions
 * in flight may use up what is left, else the time for which nothing is left.
 */
export type PlanRoom = 'free' | 'taken' | { readonly spentForMs: number }

/** Everything that a transition may read besides the session; gathered before it is applied. */
export interface TransitionContext {
  /** Never before any time that the session already records. */
  readonly now: Instant
  /** Since when a restore holds the session; undefined where none does. */
  readonly heldSince?: Instant | undefined
  /** The restore because of which calls may have been made that the store does not know of; undefined if there is none. */
  readonly restore?: StoreRestore | undefined
  readonly ids: IdSource
  snapshotOf(run: Run): AgentSnapshot
  /** The version a delegation would run; undefined when none is published or deployed. */
  childOf(bound: BoundAgent): AgentVersion | undefined
  /** Where a tool runs, and its timeout; undefined when this server has no handler for it. */
  routeOf(
    agent: AgentSnapshot,
    tool: BoundTool,
  ): { readonly route: string; readonly timeoutMs: number; readonly concurrency?: number } | undefined
  /** Input schema of a tool that only its server describes, as the model was shown it. */
  describedBy(tool: BoundTool): JsonSchema | undefined
  /** Stored steps of a run, in order. */
  stepsOf(run: RunId): readonly RunStep[]
  /** What was said in root runs before the newest one; see `SessionBefore`. */
  readonly said: readonly RunStep[]
  /** Calls of this session so far, by `callKey`: of the runs that were read, and of all where a policy counts them. */
  readonly calls: ReadonlyMap<string, CallRow>
  /** Calls of runs in other sessions that do the same work. */
  readonly relatedCalls: RelatedCalls
  /** Calls in other sessions, of the agent or of all; read only where a policy looks back over a window. */
  readonly callsElsewhere: readonly CallRow[]
  /** Names of standing authorities that an operator has ended. */
  readonly revoked: ReadonlySet<string>
  /** Texts of a run's files; read only if a policy uses sources of values. */
  attachedTexts(run: RunId): readonly string[]
  /** Calls that stand for an effect key. */
  readonly effectsOf: ReadEffects
  /** Identifies the process that sends calls. */
  readonly worker?: string | undefined
  /** False while the process is stopping: calls are decided and recorded, but not sent. */
  readonly maySend: boolean
  /** Calls of one completion that may be in flight at once. */
  readonly callsAtOnce: number
  /** True if the call may be recorded as sent, now that it has a slot or soon gets one. Otherwise the run gets `admitted` once one is free. */
  takeSlot(
    run: RunId,
    starter: RunStarter,
    key: string,
    call: { readonly tool: string; readonly isRead: boolean },
    route: { readonly route: string; readonly concurrency?: number },
  ): boolean
  /** The most tokens that one answer of an agent's model can have. */
  mostOutput(agent: AgentSnapshot): number
  /** Present price of a model, and the size of its context window. */
  termsOf(model: SnapshotModel): ModelTerms
  /** Usage so far of a completion, by its `completionKey`; `elsewhere` if another process may have sent it. */
  spentOn(completion: string): SpentTokens | 'elsewhere' | undefined
  /** Outages that hold runs now; held runs read and update it. */
  readonly outages: {
    /** Undefined if the run may try now, and then it is the one that tries; else when it should ask again. */
    laterThan(cause: string, run: RunId, now: Instant): Instant | undefined
    /** An attempt of a held run failed; the next is due at `until`. */
    failed(outage: Outage, run: RunId, until: Instant): void
  }
  /** A new token for an attempt of a call, by its `dispatchKey`: given to its tool, and kept nowhere but in this process. */
  newToken(run: RunId, dispatch: string): string
  /** Pauses that operators have set. */
  readonly pauses: readonly PauseAct[]
  /** The workspace's cap on spending per day, and whether a completion may begin; undefined without a cap. */
  readonly plan?: { readonly cap: SpendCap; readonly room: PlanRoom } | undefined
  /** Maximum of iterations where the agent sets no limit. */
  readonly maxIterations: number
  /** 0 to 1. */
  readonly jitter: number
}
