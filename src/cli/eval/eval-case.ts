/** A line of a dataset: an input, what is checked of its run, and what tools and people answer. Source: docs/design/evals.md#a-line */
import type { Digest } from '../../base/digest.ts'
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import type { DecisionRule } from '../../scenario/decisions.ts'
import type { Scenario, ToolDouble } from '../../scenario/scenario.ts'

/** Names of checks, each of which is a member of `EvalCheck`. */
export const CHECK_NAMES = [
  'status',
  'output_contains',
  'output_schema',
  'calls',
  'never_calls',
  'never_calls_without_approval',
  'only_calls',
  'calls_in_order',
  'max_tokens',
  'max_cost',
  'max_seconds',
  'judge',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]

/** Has exactly one member that is a name of a check. */
export interface EvalCheck {
  readonly status?: string
  readonly output_contains?: JsonValue
  readonly output_schema?: JsonObject
  readonly calls?: string
  readonly never_calls?: string
  readonly never_calls_without_approval?: string
  readonly only_calls?: readonly string[]
  readonly calls_in_order?: readonly string[]
  /** Condition on the call, with checks about the calls of one tool. */
  readonly where?: JsonObject
  /** With `calls`; at least one call when absent. */
  readonly times?: number
  readonly max_tokens?: number
  /** `0.05 USD`. */
  readonly max_cost?: string
  /** On the clock of the wall. */
  readonly max_seconds?: number
  readonly judge?: JudgeCheck
}

/** A rubric by its text or by its file. */
export interface JudgeCheck {
  readonly rubric?: string
  /** Relative to the dataset. */
  readonly rubric_file?: string
  readonly votes?: number
}

/** What a model judges an output by. */
export interface Rubric {
  readonly text: string
  readonly digest: Digest
}

/** A line as it is written, after its shape check. */
export interface WrittenEvalCase {
  readonly name?: string
  readonly agent?: string
  readonly input?: JsonObject
  readonly expected?: JsonValue
  readonly checks?: readonly EvalCheck[]
  readonly model?: Scenario['model']
  readonly tools?: Readonly<Record<string, ToolDouble>>
  readonly decide?: readonly DecisionRule[]
  readonly from?: { readonly run?: string; readonly version?: string; readonly startedAt?: string }
  readonly defaults?: Pick<WrittenEvalCase, 'agent' | 'model' | 'checks' | 'tools' | 'decide'>
}

/** A case with the defaults that apply to it. */
export interface EvalCase extends Omit<WrittenEvalCase, 'defaults' | 'checks'> {
  readonly name: string
  /** Number of its line, from 1. */
  readonly line: number
  readonly input: JsonObject
  readonly checks: readonly EvalCheck[]
  /** Rubrics of its checks, by check. */
  readonly rubrics: ReadonlyMap<EvalCheck, Rubric>
}

/** The name of a check. Every check that was read has one. */
export const nameOfCheck = (check: EvalCheck): CheckName =>
  CHECK_NAMES.find((name) => check[name] !== undefined) ?? 'status'
