/** How much of a long conversation an agent's model gets (`svc/context`). Source: docs/design/steering.md#context */
export interface ContextRule {
  /** Newest messages that are never left out. */
  readonly keep: number
  /** Whether the model summarises what is left out. */
  readonly summarise: boolean
  /** Prompts that are larger leave older messages out: a share of the model's context window, or estimated tokens. */
  readonly budget: { readonly percent: number } | { readonly tokens: number }
}

export const DEFAULT_CONTEXT_RULE: ContextRule = { keep: 20, summarise: false, budget: { percent: 60 } }

/** The context window of a model without a known one. */
export const USUAL_WINDOW = 128_000

/** Tokens of the largest prompt. */
export const contextBudget = ({ budget }: ContextRule, window = USUAL_WINDOW): number =>
  'tokens' in budget ? budget.tokens : Math.floor((window * budget.percent) / 100)
