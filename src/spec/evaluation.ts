/** An evaluation that a server keeps: what `svc eval` counted, without inputs, outputs and words of runs. Source: docs/design/evals.md#kept-evaluations */
import type { WorkspaceId } from '../base/ids.ts'
import type { Instant } from '../base/clock.ts'
import type { CostSum } from './price.ts'

export interface KeptEvaluation {
  readonly id: string
  readonly workspaceId: WorkspaceId
  readonly at: Instant
  readonly by: string
  /** The agent that most cases started, as `namespace.name`. */
  readonly agent: string
  readonly report: EvaluationReport
}

export type CaseOutcome = 'passed' | 'failed' | 'undecided'

/** The runs of one version: one for each case, or as many as it was played. */
export interface EvaluationSide {
  readonly name: string
  readonly passed: number
  readonly failed: number
  readonly undecided: number
  /** Cases of which some runs passed, and not all; absent where each was played once. */
  readonly flaky?: number
  /** Share of the runs that passed, with its 95% interval; null without a case. */
  readonly rate: { readonly share: number; readonly low: number; readonly high: number } | null
  readonly tokens: number
  readonly cost: CostSum
}

/** A case of which a run did not pass, or that changed or is decided otherwise. */
export interface EvaluationCase {
  readonly name: string
  readonly outcome: CaseOutcome
  readonly before?: CaseOutcome
  /** How many of its runs passed, where it was played several times. */
  readonly passed?: number
  /** Names of the checks that did not pass. */
  readonly checks: readonly string[]
  readonly flips: readonly { readonly tool: string; readonly was: string; readonly now: string; readonly by: string }[]
}

export interface EvaluationReport {
  /** Path of the dataset, as it was typed. */
  readonly dataset: string
  /** How often each case was played with each version; absent for once. */
  readonly repeat?: number
  readonly now: EvaluationSide
  readonly before?: EvaluationSide
  /** Decisions of the runs before, and how many the policies of now make otherwise. */
  readonly exact?: { readonly decisions: number; readonly flips: number }
  /** The intervals have no point in common. */
  readonly isApart?: boolean
  readonly judge?: { readonly provider: string; readonly name: string; readonly calls: number }
  readonly cases: readonly EvaluationCase[]
  /** Such cases beyond those that are listed. */
  readonly moreCases: number
}
