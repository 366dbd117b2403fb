/**
 * The answer of a dry fork: the recorded run compared with the repeated one. Source: docs/design/steering.md#fork
 */
import type { JsonValue } from '../../base/json/json.ts'
import type { CostSum } from '../price.ts'

/** Calls are matched by name and arguments. */
export interface DryDifference {
  /** An additional call, a missing call, or one with a different decision. */
  readonly what: 'called' | 'not_called' | 'decided'
  /** Wire name. */
  readonly tool: string
  readonly arguments: JsonValue
  /** The policies' decisions. */
  readonly was?: string
  readonly would?: string
}

export interface DryForkView {
  /** The run that was repeated. */
  readonly runId: string
  readonly at: number
  readonly versionLabel: { readonly was: string; readonly would: string }
  readonly status: { readonly was: string; readonly would: string }
  readonly output: { readonly was: JsonValue; readonly would: JsonValue; readonly isSame: boolean }
  readonly error: { readonly was: string | null; readonly would: string | null }
  /** Why it was not played to its end; absent if it was. */
  readonly stopped?: string
  readonly differences: readonly DryDifference[]
  /** True where its calls, decisions or status differ, or it was stopped. */
  readonly differs: boolean
  /** Of its completions alone. */
  readonly tokens: number
  readonly cost?: CostSum
}
