/** Answers of the operator application when recorded calls are decided again. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { ChangeView } from './publication.ts'
import type { DecisionFlip, ExplainedDecision, WrittenFinding, WrittenPolicy } from '../explanation.ts'

/** A recorded decision, decided again. */
export interface DecideView {
  readonly recorded: RecordedDecision
  /** With the recorded policies and arguments. */
  readonly before: ExplainedDecision
  /** With the edits; absent without edits, and if `findings` has an error. */
  readonly after?: ExplainedDecision
  /** Documents of the evaluated policies, if they were stored. */
  readonly documents: readonly WrittenPolicy[]
  /** About the edited documents. */
  readonly findings: readonly WrittenFinding[]
}

/** Recorded decisions under other policies: as `svc policy backtest --json`, with additional fields for the console. */
export interface WhatIfView {
  readonly calls: number
  readonly flips: readonly DecisionFlip[]
  readonly assumed?: readonly string[]
  /** Ids of the decisions of `flips`, in their order. */
  readonly decisions: readonly string[]
  /** All flips, also those beyond `flips`. */
  readonly changes: readonly { readonly was: string; readonly now: string; readonly flips: number }[]
  /** What the edited version may do that the one it was edited from could not. Absent where none was named. */
  readonly authority?: { readonly widens: boolean; readonly changes: readonly ChangeView[] }
  /** About the edited documents; with an error among them nothing was decided. */
  readonly findings: readonly WrittenFinding[]
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
  /** Outcome of the call. */
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
