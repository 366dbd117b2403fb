import type { FactName, LintRule, RuleName } from '../../facts/rule.ts'
export declare const ruleTable: Readonly<Record<RuleName, LintRule<FactName>>>
