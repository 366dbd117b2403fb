import { toolsOf } from '../../facts/agents/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolTooMany: LintRule = {
  severity: 'info',
  law: 'An agent has at most 40 tools; with more, models choose badly.',
  fix: 'Split the agent: give groups of tools to sub-agents.',
  kinds: ['Agent'],
  check(document, report) {
    const { length } = toolsOf(document)
    if (length > MANY) report('/spec/tools', `This agent has ${length} tools.`)
  },
}

const MANY = 40
