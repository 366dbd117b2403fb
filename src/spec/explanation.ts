/** The explanation of a decision, for the terminal and for a browser. */
import type { JsonValue } from '../base/json/json.ts'

type PolicyTruth = 'true' | 'false' | 'unknown'

export type ExplainedNode =
  | { readonly node: 'all' | 'any' | 'not'; readonly truth: PolicyTruth; readonly children: readonly ExplainedNode[] }
  | {
      readonly node: 'leaf'
      readonly truth: PolicyTruth
      /** As written: `args.amount > 100`. */
      readonly text: string
      /** With the value in place of the path: `180 > 100`. */
      readonly seen: string
      readonly op: string
      /** The value of the call; absent where there is none. */
      readonly value?: JsonValue
      /** The value that the policy compares with. */
      readonly literal: JsonValue
    }

export interface ExplainedPolicy {
  readonly policy: string
  readonly version: string
  readonly effect: string
  readonly truth: PolicyTruth
  /** True where it took part in the outcome: a gate or a grant that fired. */
  readonly fired: boolean
  readonly source?: string
  /** JSON pointer of the decision in its document. */
  readonly pointer?: string
  /** For an allow list, with the value of the call: `args.currency not in EUR, USD ("GBP")`. */
  readonly list?: string
  /** Absent = always true. */
  readonly tree?: ExplainedNode
}

/** The explanation of a decision on a recorded call, by its own policies or others. */
export interface ExplainedDecision {
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  /** One sentence: which policy decided and why. */
  readonly explanation: string
  /** The policy that decided; `default` where the side-effect class did. */
  readonly by: { readonly policy: string; readonly version: string | null }
  /** Every evaluated policy, by name. */
  readonly policies: readonly ExplainedPolicy[]
  /** Other outcomes, by another value of one field. */
  readonly turns: readonly string[]
  /** What an approval needs: approvers, role, deadline. */
  readonly obligations: Readonly<Record<string, JsonValue>>
  /** History measures counted now, because the recorded decision did not read them. */
  readonly assumed: readonly string[]
}

/** Lines of a document as it was written, 1-based; `to` is the last. */
export interface LineRange {
  readonly from: number
  readonly to: number
}

/** The document of a policy, as its author wrote it. */
export interface WrittenPolicy {
  /** `namespace.name@version`. */
  readonly policy: string
  readonly path: string
  /** True for an unpublished edit. */
  readonly isEdited: boolean
  /** Number of the first line of `lines` in the file. */
  readonly firstLine: number
  readonly lines: readonly string[]
  /** The decision and its requirements. */
  readonly decision: LineRange | null
  /** Comparisons, by their text. */
  readonly comparisons: readonly (LineRange & { readonly text: string })[]
}

/** A finding of lint about a text. */
export interface WrittenFinding extends LineRange {
  readonly path: string
  readonly rule: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  /** Offsets in the text. */
  readonly start: number
  readonly end: number
}

/** A call whose decision would change. */
export interface DecisionFlip {
  readonly runId: string
  readonly toolCallId: string
  readonly tool: string
  readonly was: string
  readonly now: string
  readonly by: string
  /** History measures that the recorded decision did not read. */
  readonly assumed?: readonly string[]
}
