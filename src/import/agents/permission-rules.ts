/** Rules that permit calls by names of tools, as several sources have them. */
import { quoteForeign } from '../foreign-text.ts'
import type { LossList } from '../losses.ts'
import type { ForeignRule } from './foreign-project.ts'

export interface PermissionRule {
  readonly rule: ForeignRule
  /** As it is written. */
  readonly text: string
  /** Pattern of the tool, as the source calls it; undefined where the rule asks about more than the name. */
  readonly pattern: string | undefined
}

/**
 * The rule that the source follows for a tool; the first kind of `order` with a matching pattern wins.
 * @param names under which rules of the source know the tool
 */
export const ruleFor = (
  names: readonly string[],
  rules: readonly PermissionRule[],
  order: readonly ForeignRule[],
): ForeignRule | undefined =>
  order.find((kind) => rules.some((each) => each.rule === kind && names.some((name) => isRuleFor(each, name))))

const isRuleFor = ({ pattern }: PermissionRule, tool: string): boolean =>
  pattern !== undefined && matchesPattern(tool.toLowerCase(), pattern.toLowerCase())

/** `*` and `?`, in a time that a hostile pattern cannot make long. */
export function matchesPattern(text: string, pattern: string): boolean {
  let [at, in_, star, retry] = [0, 0, -1, 0]
  while (at < text.length) {
    if (pattern[in_] === '*') [star, retry, in_] = [in_, at, in_ + 1]
    else if (in_ < pattern.length && (pattern[in_] === '?' || pattern[in_] === text[at])) [at, in_] = [at + 1, in_ + 1]
    else if (star >= 0) [in_, retry, at] = [star + 1, retry + 1, retry + 1]
    else return false
  }
  while (pattern[in_] === '*') in_++
  return in_ === pattern.length
}

/**
 * Says which rules became no policy.
 * @param tools names of the tools that are imported
 * @param mayConcern whether a rule that asks about more than names may be about such a tool
 */
export function reportRules(
  rules: readonly PermissionRule[],
  tools: readonly string[],
  mayConcern: (text: string) => boolean,
  losses: LossList,
): void {
  for (const each of rules) {
    const { rule, text, pattern } = each
    if (tools.some((tool) => isRuleFor(each, tool))) continue
    const shown = quoteForeign(text)
    if (pattern === undefined && mayConcern(text))
      losses.add(`permissions.${rule}`, `${shown} asks about arguments and is not carried`, true)
    else losses.add(`permissions.${rule}`, `${shown} is about no tool that is carried`)
  }
}
