/**
 * Input and result of a decision. `decideByPolicies` is pure and synchronous, never throws and never allows on error.
 * Source: docs/design/policies.md#when-a-call-is-decided
 */
import type { Instant } from '../../base/clock.ts'
import type { JsonValue } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { ApprovalObligations, PolicySet } from '../../spec/policy-set.ts'
import type { PreviousEffect } from '../../spec/effect.ts'
import type { DecidedPolicy } from '../../spec/step.ts'
import type { HistoryMeasure, HistoryScope, HistorySubject } from './history.ts'
import type { PathSegment } from './segment.ts'

/** The facts of one call, by the roots of condition paths. */
export interface CallFacts {
  readonly args: JsonValue
  readonly tool: {
    readonly id: string
    readonly version: string
    readonly wire_name: string
    readonly kind: 'tool' | 'mcp' | 'agent'
    readonly mcp_server?: string
    readonly side_effect_class?: SideEffectClass
    readonly labels: Readonly<Record<string, string>>
  }
  readonly agent: {
    readonly id: string
    readonly version: string
    readonly risk_tier?: string
    readonly classifications: readonly string[]
    readonly labels: Readonly<Record<string, string>>
  }
  readonly run: {
    readonly depth: number
    readonly is_subagent: boolean
    readonly iteration: number
    readonly elapsed_seconds: number
    readonly tokens_used: number
    readonly trigger_type: 'api' | 'scheduled' | 'operator'
    readonly taint: boolean
  }
  readonly session: { readonly run_count: number; readonly tokens_used: number; readonly elapsed_seconds: number }
  readonly principal: {
    readonly type: 'api_key' | 'operator' | 'schedule'
    readonly id: string
    readonly trigger_name?: string
  }
  readonly svc: {
    readonly dispatch: { readonly trigger: 'none' | 'no_handler' | 'timeout' | 'indeterminate' }
    readonly limit: string
  }
  /** Absent for a tool without an effect key, and for a call that lacks an argument of it. */
  readonly effect?: {
    readonly key: string
    readonly repeated: boolean
    readonly previous?: PreviousEffect
    /** False where a repetition cannot be given the result of the earlier call. */
    readonly hasResult?: boolean
  }
  /** Names of the sources of the value at a path of the arguments; undefined = unknown. */
  source?(segments: readonly PathSegment[]): readonly string[] | undefined
  readonly now: Instant
  /**
   * A history measure, which includes the current call and calls that wait or run. Undefined = unknown.
   * @param windowMs for the scopes `window` and `workspace`
   * @param by an argument path: only calls with the same value there count
   */
  history(
    scope: HistoryScope,
    whose: HistorySubject,
    measure: HistoryMeasure,
    windowMs?: number,
    by?: string,
  ): number | undefined
  /** Names of standing authorities that an operator has ended; their grants do not fire. */
  readonly revoked?: ReadonlySet<string>
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'deny' | 'require_approval' | 'escalate'
  /** Every entry that was considered, the deciding ones first. */
  readonly policies: readonly DecidedPolicy[]
  /** One sentence for people: which policy decided and why. */
  readonly explanation: string
  /** Shown to the model on deny. */
  readonly message?: string
  /** The strictest of all fired approvals; set for `require_approval` and `escalate`. */
  readonly obligations?: Required<
    Pick<ApprovalObligations, 'approvals_required' | 'comprehension_required' | 'on_reject' | 'on_modify'>
  > &
    ApprovalObligations
  /** Reasons of all fired approvals, in canonical order. */
  readonly reasons: readonly string[]
  readonly authorityRef?: string
  /** `policy_error:<what>` where the decision is a denial because something could not be evaluated. */
  readonly error?: string
}

/** The agent's own set and those of its ancestors, of which only `inherited` gates count. */
export interface PolicySets {
  readonly own: PolicySet
  readonly ancestors: readonly PolicySet[]
}
