import type { CostSums, CostView } from '../../../operations/insight.ts'
import { describeCost } from '../../../spec/price.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { agentOption, momentOptions, requestCommand } from '../../project/request-command.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { printTable } from '../../shell/screen/list.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

const GROUPS = ['agent', 'version', 'model', 'day']

const tokensOf = ({ inputTokens, outputTokens }: CostSums): number => inputTokens + outputTokens

const columns = (by: readonly string[]): readonly TableColumn<CostView>[] => [
  ...(by.includes('day') ? [{ title: 'DAY', cell: ({ day = '' }: CostView) => day }] : []),
  ...(by.includes('agent') ? [{ title: 'AGENT', cell: ({ agent = '' }: CostView) => agent }] : []),
  ...(by.includes('version') ? [{ title: 'VERSION', cell: ({ version = '' }: CostView) => version || '-' }] : []),
  ...(by.includes('model')
    ? [{ title: 'MODEL', cell: ({ provider = '', model = '' }: CostView) => `${provider}/${model}` }]
    : []),
  { title: 'COMPLETIONS', cell: ({ completions }) => String(completions), align: 'right' },
  { title: 'INPUT', cell: ({ inputTokens }) => String(inputTokens), align: 'right' },
  { title: 'CACHED', cell: ({ cachedInputTokens }) => String(cachedInputTokens), align: 'right' },
  { title: 'OUTPUT', cell: ({ outputTokens }) => String(outputTokens), align: 'right' },
  { title: 'COST', cell: ({ cost }) => describeCost(cost) ?? '', align: 'right' },
]

const groupsOf = ({ given }: Pick<CommandContext, 'given'>): readonly string[] =>
  (given.text('by') ?? 'agent,model').split(',')

/** Tokens and money of completions, by agent, version, model and day. */
export const costs = requestCommand(
  'GET /costs',
  (call) => {
    const by = groupsOf(call)
    const unknown = by.find((name) => !GROUPS.includes(name))
    if (unknown !== undefined)
      throw usageFailure(`--by takes agent, version, model and day, separated by commas, not "${unknown}".`)
    const times = momentOptions(call, 'since', 'until')
    return async (operator) => ({ query: { by: by.join(','), ...times, ...(await agentOption(call, operator)) } })
  },
  (call, { items, sum }) => {
    printTable(call, items, columns(groupsOf(call)), 'No completions in this time.')
    const money = describeCost(sum.cost) ?? 'nothing billed'
    call.out.hint(`${countNoun(sum.completions, 'completion')} · ${tokensOf(sum)} tokens · ${money}`)
  },
)
