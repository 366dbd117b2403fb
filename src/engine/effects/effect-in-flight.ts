/** An effect in flight, and the part of its session that it reads. */
import type { ServerAnswer } from '../../spec/server-question.ts'
import type { RunStep } from '../../spec/step.ts'
import type { EarlierMessage } from '../prompt/earlier.ts'
import type { CompletionMeter } from './meter.ts'
import type { OfferedTools } from './model-tools.ts'

/** The part of a session that an effect reads while it runs. */
export interface EffectContext extends OfferedTools {
  readonly steps: readonly RunStep[]
  /** Messages and outputs of the session before the run. */
  readonly before: readonly EarlierMessage[]
}

/** An effect in flight in this process. */
export interface EffectInFlight {
  /** True for a call of a tool, false for a completion. */
  readonly isCall: boolean
  /** True for a call that may have done something that a repetition would do twice: what became of it must be learned. */
  readonly isUnsafe: boolean
  /** True once nothing waits for the outcome any more, such as after a cancel. */
  isCalledOff: boolean
  /** Waits for a free completion slot of a provider; call the result to give it back. */
  readonly enter: (provider: string, signal: AbortSignal) => Promise<() => void>
  readonly controller: AbortController
  /**
   * False once this process must not perform the effect any more, or an operator paused it; called right before the first
   * byte leaves.
   * @param provider of the completion, if it differs from that of the agent's own model
   */
  readonly mayLeave: (provider?: string) => boolean
  readonly meter: CompletionMeter
  /** The question of its server that waits for an answer. */
  asking?: { readonly name: string; readonly resolve: (answer: ServerAnswer) => void }
  /** Token for a call that external work ends. */
  readonly token?: string
}
