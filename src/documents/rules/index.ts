/** All lint rules, sorted by id. The build collects them (`scripts/rule-table.js`): the id of a rule is the path of its module. */
import type { FactName, LintRule, NamedRule, RuleName } from '../facts/rule.ts'
import { ruleTable } from './generated/table.js'

export const rules: readonly NamedRule[] = Object.entries<LintRule<FactName>>(ruleTable).map(([name, rule]) => ({
  ...rule,
  name: name as RuleName,
}))
