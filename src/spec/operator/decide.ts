/** What the operator application answers when a call is decided again, or recorded calls by other policies. */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { ChangeView } from './publication.ts'
import type { DecisionFlip, ExplainedDecision, WrittenFinding, WrittenPolicy } from '../explanation.ts'

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
