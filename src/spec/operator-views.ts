/** What the operator application answers, one type for each kind of thing. */
import type { PauseTarget } from './steer/pause.ts'
import type { RunHold } from './hold.ts'
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import type { SessionListItem, TaskContent } from './api.ts'
import type { DecisionFlip, ExplainedDecision, WrittenFinding, WrittenPolicy } from './explanation.ts'
import type { CostSum } from './price.ts'
import type { TaskPeople } from './task.ts'

export interface PublishedMember {
  readonly kind: 'Agent' | 'Tool' | 'Policy'
  readonly id: string
  readonly version: string
  readonly digest: string
  readonly agentId?: string
  readonly agentVersionId?: string
  readonly already: boolean
}

export interface AgentView {
  readonly agentId: string
  readonly name: string
  readonly deployed: { readonly versionLabel: string; readonly agentVersionId: string } | null
  readonly triggers: readonly string[]
  readonly inputContract?: JsonValue
  readonly tools: readonly string[]
  /** Runs that started since midnight UTC; this and the next two where `usage` was asked for. */
  readonly runsToday?: number
  /** Runs that wait for somebody. */
  readonly waiting?: number
  readonly lastRunAt?: string | null
}

export interface VersionView {
  readonly agentVersionId: string
  readonly versionLabel: string
  readonly digest: string
  readonly publishedAt: string
  readonly publishedBy: string
  /** In the words of who published it; absent where nobody said. */
  readonly message?: string
  readonly deployed: boolean
  readonly yanked: boolean
  /** Absent where nobody gave one. */
  readonly yankReason?: string
}

/** A deployment of an agent. */
export interface DeploymentView {
  readonly versionLabel: string
  readonly agentVersionId: string
  /** Of the version before; null for the first. */
  readonly from: string | null
  readonly at: string
  readonly by: string
  /** In the words of who deployed; null where nobody said. */
  readonly message: string | null
}

/** The files of a publication as they were written. */
export interface SourcesView {
  readonly id: string
  readonly version: string
  readonly closureDigest: string
  readonly files: readonly { readonly path: string; readonly digest: string; readonly text: string }[]
}

/** A recorded decision, decided again. */
export interface DecideView {
  readonly recorded: RecordedDecision
  /** By the policies and with the arguments of then. */
  readonly before: ExplainedDecision
  /** With what was edited; absent where nothing was, and where `findings` has an error. */
  readonly after?: ExplainedDecision
  /** Of the policies that were asked, where their documents were kept. */
  readonly documents: readonly WrittenPolicy[]
  /** About the edited documents. */
  readonly findings: readonly WrittenFinding[]
}

/** What recorded decisions would become: as `svc policy backtest --json`, and what a page needs beside it. */
export interface WhatIfView {
  readonly calls: number
  readonly flips: readonly DecisionFlip[]
  readonly assumed?: readonly string[]
  /** Ids of the decisions of `flips`, in their order. */
  readonly decisions: readonly string[]
  /** All flips, also those beyond `flips`. */
  readonly changes: readonly { readonly was: string; readonly now: string; readonly flips: number }[]
  /** About the edited documents; with an error among them nothing was decided. */
  readonly findings: readonly WrittenFinding[]
}

export interface TriggerView {
  readonly triggerId: string
  readonly agentId: string
  readonly agent: string
  readonly type: 'api' | 'schedule'
  readonly name: string
  readonly active: boolean
  readonly exposeTimeline: boolean
  readonly allowDelete: boolean
  readonly allowIps: readonly string[]
  readonly ratePerMinute: number | null
  readonly ratePerDay: number | null
  readonly maxConcurrentRuns: number | null
  readonly cron: string | null
  readonly timeZone: string | null
  /** The next ticks of an active schedule, at most 5; empty for others. */
  readonly next: readonly string[]
  readonly createdAt: string
}

export interface KeyView {
  readonly keyId: string
  readonly agentId: string
  readonly agent: string
  readonly triggerId: string
  readonly trigger: string
  readonly name: string | null
  readonly prefix: string
  readonly allowUploads: boolean
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** A person's credential on this channel. */
export interface OperatorKeyView {
  readonly keyId: string
  readonly email: string
  readonly roles: readonly string[]
  readonly name: string | null
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** `secret` is in the answer to create and nowhere else, ever. */
export type CreatedKey = KeyView & { readonly secret: string }
export type CreatedOperatorKey = OperatorKeyView & { readonly secret: string }

/** A browser that is signed in to the console, or was. */
export interface ConsoleSessionView {
  readonly sessionId: string
  readonly operator: string
  /** The credential that signed in; null for the local identity of the operator channel. */
  readonly keyId: string | null
  readonly browser: string
  readonly createdAt: string
  readonly lastUsedAt: string
  readonly endedAt: string | null
  /** The one that asks. */
  readonly isThis: boolean
}

/** What changed since the last hint: these sessions, and whether anything that belongs to none. */
export interface LiveHint {
  readonly sessions: readonly string[] | 'any'
  readonly workspace: boolean
}

export interface InboxItem {
  readonly userTaskId: string
  readonly kind: string
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly tool?: string
  readonly args?: JsonValue
  readonly argsDigest?: string
  readonly why: string
  readonly reason: string | null
  readonly options?: readonly { readonly id: string; readonly label: string }[]
  readonly approvals: { readonly have: number; readonly need: number; readonly by: readonly string[] }
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly onTimeout: string | null
  readonly apiCompletable: boolean
  readonly status: string
  /** As in `UserTaskReq.content`, for the card; absent for `reply`. */
  readonly task?: TaskContent
  /** For the card; absent for `reply`. */
  readonly people?: TaskPeople
}

/** What was asked and found with the tool that an author named for looking. */
export interface ProbeView {
  readonly userTaskId: string
  readonly name: string
  readonly arguments: JsonObject
  readonly result: JsonValue
  readonly isError: boolean
}

/** Sums over completions. */
export interface CostSums {
  readonly completions: number
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly cost: CostSum
}

/** The sums of a group; it has what it was grouped by. */
export interface CostView extends CostSums {
  readonly agent?: string
  readonly provider?: string
  readonly model?: string
  /** UTC, `2026-11-23`. */
  readonly day?: string
}

/** What an operator paused, or let go on. */
export interface PauseView extends PauseTarget {
  readonly paused: boolean
  readonly at: string
  readonly by: string
  readonly reason: string | null
}

export interface RunView {
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  readonly depth: number
  readonly parentRunId: string | null
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly totalTokensUsed: number
  /** What the completions of this run cost; absent where nothing was billed. */
  readonly cost?: CostSum
  /** The beginning of its input, in one line; where `preview` was asked for. */
  readonly inputPreview?: string
  readonly trigger: string
  readonly waitingOn?: string
  /** As in the status of a run. */
  readonly hold?: RunHold
  readonly retryOf?: string
  readonly forkOf?: string
  readonly forkStep?: number
  readonly undoOf?: string
  readonly undoneCall?: string
}

/** The run that undoes a call, or has undone it. */
export interface UndoingRunView {
  readonly runId: string
  readonly status: string
  /** Who asked for it, as identities are written: `operator:ana`. */
  readonly by: string
  readonly reason: string | null
  readonly at: string
  /** What it waits for, with the task where it is one. */
  readonly waitingOn?: string
  readonly userTaskId?: string
  readonly hold?: RunHold
}

/** A call that a run made, and how it would be undone. */
export interface UndoItemView {
  readonly runId: string
  readonly agent: string
  readonly toolCallId: string
  readonly tool: string
  /** When it was made. */
  readonly at: string
  readonly arguments: JsonValue
  /** `open`: it can be undone; `final`: it cannot. */
  readonly state: 'open' | 'under_way' | 'undone' | 'final'
  /** Why it cannot; of an open one, why the newest attempt did not undo it. */
  readonly why?: string
  /** Of an open one: the call that undoes it, and what the policies say of that. */
  readonly undo?: {
    readonly tool: string
    readonly arguments: JsonValue
    readonly decision: 'allow' | 'require_approval' | 'escalate' | 'deny'
    readonly explanation: string
    /** How many people must approve. */
    readonly approvals?: number
  }
  /** Of one that is undone or under way. */
  readonly undoneBy?: UndoingRunView
}

export interface UndoPlanView {
  readonly runId: string
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  /** Newest first. */
  readonly items: readonly UndoItemView[]
  readonly total: number
  /** How many can be undone, and are not denied. */
  readonly undoable: number
}

/**
 * A step in an outline: its ordinal, the index of its run, its type, what it is about, when it began and ended in milliseconds,
 * tokens, the id of its call, and 1 where it is an error.
 */
export type OutlineRow = readonly [
  ordinal: number,
  run: number,
  type: string,
  summary: string,
  startedAt: number,
  finishedAt: number | null,
  tokens: number | null,
  callId: string | null,
  isError: 0 | 1,
]

/** A run of an outline; it answers the call `parentCallId` of its parent. */
export interface OutlineRun {
  readonly runId: string
  readonly parentRunId: string | null
  readonly parentCallId: string | null
  readonly depth: number
  readonly agent: string
  readonly versionLabel: string
  readonly status: string
  readonly startedAt: string
  readonly finishedAt: string | null
  readonly totalTokensUsed: number
  readonly cost?: CostSum
}

export interface RunOutline {
  readonly runId: string
  readonly sessionId: string
  /** The run and those below it, each after its parent. */
  readonly runs: readonly OutlineRun[]
  /** In order. */
  readonly rows: readonly OutlineRow[]
  /** Number of the last step that was read: where the next outline goes on. */
  readonly after: number
  readonly hasMore: boolean
}

/** Something that an open run from a backup does once it is released, and may have done before. */
export interface RepeatView {
  /** The run of the tree, and its agent. */
  readonly runId: string
  readonly agent: string
  readonly what: 'completion' | 'call'
  /** Logical id, class and idempotency key of a call. */
  readonly tool?: string
  readonly sideEffectClass?: string | null
  readonly idempotencyKey?: string
  /** `made` by itself, or a person is asked first. */
  readonly onRelease: 'made' | 'asked'
}

export interface RestoredView {
  /** Open root runs that are held, oldest first. */
  readonly runs: readonly {
    readonly runId: string
    readonly agent: string
    readonly status: string
    readonly startedAt: string
    readonly heldSince: string
    readonly mayRepeat: readonly RepeatView[]
  }[]
  /** `nextAt`: the next time of a schedule. */
  readonly triggers: readonly {
    readonly triggerId: string
    readonly agent: string
    readonly type: 'api' | 'schedule'
    readonly name: string
    readonly nextAt: string | null
  }[]
}

export interface FileView {
  readonly objectKey: string
  readonly filename: string
  readonly mediaType: string
  readonly sizeBytes: number
  readonly finalizedAt: string
}

/** A session with its runs, the root first, each before those it started. */
export type SessionView = SessionListItem & {
  readonly agent: string
  /** True while it is exempt from erasure and retention. */
  readonly legalHold: boolean
  readonly runs: readonly RunView[]
}

/** A recorded decision with the data to repeat it. */
export interface RecordedDecision {
  readonly decisionId: string
  readonly runId: string
  readonly sessionId: string
  readonly agent: string
  readonly versionLabel: string
  /** Agents above in the run tree, nearest first: their boundaries were inherited. */
  readonly ancestors: readonly { readonly agent: string; readonly versionLabel: string }[]
  readonly toolCallId: string
  /** Wire name. */
  readonly tool: string
  /** Logical id. */
  readonly ref: string
  readonly arguments: JsonValue
  readonly argsDigest: string
  /** What became of the call. */
  readonly state: string
  readonly decision: string
  readonly explanation: string
  readonly policies: readonly JsonValue[]
  readonly recordedAt: string
  /** Roots of conditions but `args`, `history` and `time`: `tool`, `agent`, `run`, `session`, `principal`, `effect`, `svc`. */
  readonly facts: JsonObject
  /** Values of `history` that the decision used, by path and window; null = unknown. */
  readonly history: Readonly<Record<string, number | null>>
}

/** A call of a run, as the ledger has it. */
export interface CallView {
  readonly runId: string
  readonly agent: string
  readonly toolCallId: string
  /** Logical id of the tool or agent. */
  readonly tool: string
  /** What became of it. */
  readonly state: string
  /** The attempt that it is at, from 1. */
  readonly attempts: number
  readonly idempotencyKey: string
  readonly argsDigest: string
  /** Of the last change. */
  readonly at: string
  /** The effect key that it took; absent where its tool has none. */
  readonly effect?: { readonly key: string; readonly holds: boolean; readonly outcome: EffectView['outcome'] }
  /** The newest run that undoes it, or has undone it or failed to. */
  readonly undoneBy?: UndoingRunView
  /** Where it undoes another call: that one. */
  readonly undoes?: { readonly runId: string; readonly toolCallId: string; readonly tool: string }
}

/** A secret that a deployed agent names, and whether this server has it. Never the value. */
export interface SecretView {
  readonly agent: string
  readonly name: string
  /** The environment variable. */
  readonly env: string
  readonly state: 'set' | 'empty' | 'missing'
  /** `model anthropic`, `mcp orders`; empty where nothing uses it. */
  readonly usedBy: readonly string[]
}

/** A call that took an effect key. */
export interface EffectView {
  /** As it is kept: beyond 512 bytes a digest. `shown` is the text, shortened. */
  readonly key: string
  readonly shown: string
  readonly holds: boolean
  readonly outcome: 'in_flight' | 'unknown' | 'done' | 'not_made'
  readonly tool: string
  readonly toolVersion: string
  readonly agent: string
  readonly versionLabel: string
  readonly runId: string
  readonly sessionId: string
  readonly toolCallId: string
  readonly at: string
  /** When a call that was made stops holding the key; null = never. */
  readonly expiresAt: string | null
  readonly approvedBy: readonly string[]
  readonly released?: { readonly at: string; readonly by: string; readonly reason: string }
  /** The run that has undone the call. */
  readonly undoneBy?: UndoingRunView
}

/** What an agent may call, and who decides about it: a row for each policy of each call. */
export interface AuthorityRow {
  readonly tool: string
  readonly wire: string
  readonly kind: 'tool' | 'agent'
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  readonly by: string
  readonly when: string
}

/** What a version does that another did not. */
export interface ChangeView {
  readonly kind: string
  readonly severity: 'major' | 'minor' | 'patch'
  readonly widens: boolean
  readonly agent: string
  readonly tool?: string
  /** A call that the two versions decide differently. */
  readonly witness?: {
    readonly tool: string
    readonly arguments: JsonValue
    readonly context?: JsonObject
    readonly before: string
    readonly after: string
  }
  readonly from: JsonValue
  readonly to: JsonValue
  readonly path: string | null
  readonly say: string
}

/** A server process of the store. */
export interface WorkerView {
  readonly workerId: string
  readonly version: string
  /** Where clients reach it. */
  readonly url: string | null
  /** `silent`: it has not been seen for 15 seconds. */
  readonly state: 'serving' | 'draining' | 'silent'
  readonly startedAt: string
  readonly seenAt: string
  /** Sessions that it drives. */
  readonly leases: number
}
