/** Rules that permit calls by names of tools, as several sources have them. */
import type { ForeignRule } from './foreign-project.ts'
import { anyGlob } from '../glob.ts'

export interface PermissionRule {
  readonly rule: ForeignRule
  /** As it is written. */
  readonly text: string
  /** Pattern of the tool, as the source calls it; undefined where the rule also asks about arguments. */
  readonly pattern: string | undefined
}

/** The rule that the source follows for a tool; the first kind of `order` with a matching pattern wins. */
export function ruleFor(
  tool: string,
  rules: readonly PermissionRule[],
  order: readonly ForeignRule[],
): ForeignRule | undefined {
  return order.find((kind) => rules.some(({ rule, pattern }) => rule === kind && isFor(pattern, tool)))
}

export const isFor = (pattern: string | undefined, tool: string): boolean =>
  pattern !== undefined && anyGlob(pattern.toLowerCase()).test(tool.toLowerCase())
