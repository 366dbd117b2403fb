import { toIsoText } from '../../../base/clock.ts'
import type { CostSums, CostView } from '../../../operations/insight.ts'
import { describeCost } from '../../../spec/price.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { printTable } from '../../shell/screen/list.ts'
import { parseMoment } from '../../shell/numbers.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

const GROUPS = ['agent', 'version', 'model', 'day']

/** Tokens and money of completions, by agent, version, model and day. */
export async function costs(call: CommandContext<OperatorAnswer<'GET /costs'>>): Promise<void> {
  const { given, io, mode, out } = call
  const by = given.text('by') ?? 'agent,model'
  const unknown = by.split(',').find((name) => !GROUPS.includes(name))
  if (unknown !== undefined)
    throw usageFailure(`--by takes agent, version, model and day, separated by commas, not "${unknown}".`)
  const now = io.clock.now()
  const moment = (name: string): Record<string, string> => {
    const text = given.text(name)
    return text === undefined ? {} : { [name]: toIsoText(parseMoment(text, now)) }
  }
  const agent = given.text('agent')
  const answer = await withOperator(await openProject(call), call, async (operator) =>
    operator.call('GET /costs', {
      query: {
        by,
        ...moment('since'),
        ...moment('until'),
        ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).agentId }),
      },
    }),
  )
  if (mode.json) return await out.json(answer)
  printTable(call, answer.items, columns(by.split(',')), 'No completions in this time.')
  const { sum } = answer
  out.hint(
    `${countNoun(sum.completions, 'completion')} · ${tokensOf(sum)} tokens · ${describeCost(sum.cost) ?? 'nothing billed'}`,
  )
}

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
