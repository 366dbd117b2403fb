import { toolsOf } from '../../facts/bindings.ts'
import type { LintRule } from '../../facts/rule.ts'

export const tooManyTools: LintRule = {
  name: 'tool/too-many',
  severity: 'info',
  law: 'An agent has at most 40 tools; with more, models choose badly.',
  fix: 'Split the agent: give groups of tools to sub-agents.',
  source: 'Lint rules, "tool"',
  bad: {
    'agent.yaml': `kind: Agent\nspec:\n  tools: [${Array.from({ length: 41 }, (_, at) => `{ref: pay.refund@^1, as: t${at}}`).join(', ')}]\n  limits: {max_loop_iterations: 5}\n`,
    'tool.yaml': 'kind: Tool\n',
  },
  good: {
    'agent.yaml': 'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
  },
  kinds: ['Agent'],
  check(document, report) {
    const { length } = toolsOf(document)
    if (length > MANY) report('/spec/tools', `This agent has ${length} tools.`)
  },
}

const MANY = 40
