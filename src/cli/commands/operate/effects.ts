import { fail } from '../../../base/failure.ts'
import type { EffectView } from '../../../operations/steering.ts'
import { describeApprover } from '../../../view/task/task-people.ts'
import { describeUndoing } from '../../../view/undo.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { withOperator } from '../../project/server/operator.ts'
import { listCommand, momentOptions, requestCommand } from '../../project/request-command.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList } from '../../shell/screen/list.ts'

const columns = (now: number): readonly TableColumn<EffectView>[] => [
  { title: 'KEY', cell: ({ shown }) => shown, plain: ({ key }) => key },
  { title: 'OUTCOME', cell: describeOutcome },
  { title: 'TOOL', cell: ({ tool }) => tool },
  { title: 'RUN', cell: ({ runId }) => runId },
  { title: 'APPROVED BY', cell: ({ approvedBy }) => approvedBy.map(describeApprover).join(', ') || '-' },
  { title: 'WHEN', cell: ({ at }) => formatRelative(Date.parse(at), now), plain: ({ at }) => at },
]

const describeOutcome = (effect: EffectView): string => {
  const { undoneBy } = effect
  return undoneBy ? `${describeHolding(effect)}; ${describeUndoing(undoneBy)}` : describeHolding(effect)
}

const describeHolding = ({ outcome, released, holds }: EffectView): string =>
  released
    ? `${outcome.replaceAll('_', ' ')}, released by ${describeApprover(released.by)}: ${released.reason}`
    : `${outcome.replaceAll('_', ' ')}${holds || outcome === 'not_made' ? '' : ', not held'}`

/** Effect keys that calls hold; with `--all` those that were given back, expired or released too. */
export const effectsList = listCommand('GET /effects', {
  ask: (call) => ({ query: { ...(call.given.flag('all') && { all: 'true' }), ...momentOptions(call, 'since') } }),
  columns,
  nothing: 'No call holds an effect key.',
})

/** Every call that took one key, the newest first. */
export async function effectsShow(call: CommandContext<OperatorAnswer<'GET /effects'>>): Promise<void> {
  const key = call.given.required(0)
  const answer = await withOperator(call, (operator) => operator.call('GET /effects', { query: { key, all: 'true' } }))
  if (answer.items.length === 0) throw fail('effect_not_held', { key })
  await printList(call, answer, columns(call.io.clock.now()), '')
}

export const effectsRelease = requestCommand(
  'POST /effects/release',
  ({ given }) => {
    const reason = given.text('reason')
    if (reason === undefined || reason.trim() === '')
      throw fail('usage', { what: '--reason says why the effect may happen again; it is recorded.' })
    return { body: { key: given.required(0), reason } }
  },
  ({ out }, { key, items: [holder] }) =>
    out.line(`released ${holder?.shown ?? key}: run ${holder?.runId ?? ''} holds it no longer`),
)
