/** How Claude models are told to think, at Anthropic and at Bedrock. */
import type { SnapshotModel } from '../spec/snapshot.ts'
import { thinkingBudget } from './output-limit.ts'

type Effort = NonNullable<NonNullable<SnapshotModel['reasoning']>['effort']>

export type ClaudeThinking =
  | { readonly thinking: { readonly type: 'enabled'; readonly budget_tokens: number } }
  | { readonly thinking: { readonly type: 'adaptive' }; readonly effort: Effort }

/**
 * The settings for the effort of a model; undefined without one. From version 4.6 on, Claude decides itself how much to think at an
 * effort, and later versions refuse a budget.
 * Source: Anthropic, "Adaptive thinking" and "Extended thinking".
 */
export function claudeThinking(model: SnapshotModel): ClaudeThinking | undefined {
  const effort = model.reasoning?.effort
  if (effort === undefined) return undefined
  return isAdaptive(model.name)
    ? { thinking: { type: 'adaptive' }, effort }
    : { thinking: { type: 'enabled', budget_tokens: thinkingBudget(model) } }
}

/** `claude-opus-4-8`, `claude-sonnet-5`; not `claude-opus-4-20250514`, whose second number is a date, nor `claude-3-7-sonnet`. */
function isAdaptive(name: string): boolean {
  const [, major = '0', minor = '0'] = /claude-[a-z]+-(\d+)(?:-(\d{1,2}))?(?!\d)/.exec(name) ?? []
  return Number(major) > 4 || (Number(major) === 4 && Number(minor) >= 6)
}
