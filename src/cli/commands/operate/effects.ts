import { fail } from '../../../base/failure.ts'
import type { EffectView } from '../../../operations/steering.ts'
import { describeApprover } from '../../../view/task-card.ts'
import { describeUndoing } from '../../../view/undo.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { parseMoment } from '../../shell/numbers.ts'
import { toIsoText } from '../../../base/clock.ts'
import { printTable } from '../../shell/screen/list.ts'

/** Effect keys that calls hold; with `--all` those that were given back, expired or released too. */
export async function effectsList(call: CommandContext<OperatorAnswer<'GET /effects'>>): Promise<void> {
  const { given, io } = call
  const since = given.text('since')
  const query = {
    ...(given.flag('all') && { all: 'true' }),
    ...(since !== undefined && { since: toIsoText(parseMoment(since, io.clock.now())) }),
  }
  await printEffects(call, query, 'No call holds an effect key.')
}

/** Every call that took one key, the newest first. */
export async function effectsShow(call: CommandContext<OperatorAnswer<'GET /effects'>>): Promise<void> {
  const key = call.given.argument(0)!
  const answer = await printEffects(call, { key, all: 'true' }, '')
  if (answer === 0) throw fail('effect_not_held', { key })
}

async function printEffects(
  call: CommandContext<OperatorAnswer<'GET /effects'>>,
  query: Record<string, string>,
  none: string,
): Promise<number> {
  const answer = await withOperator(await openProject(call), call, async (operator) =>
    operator.call('GET /effects', { query }),
  )
  const { length } = answer.items
  if (length === 0 && none === '') return 0
  if (call.mode.json) await call.out.json(answer)
  else printTable(call, answer.items, columns(call.io.clock.now()), none)
  return length
}

export async function effectsRelease(call: CommandContext<OperatorAnswer<'POST /effects/release'>>): Promise<void> {
  const { given, mode, out } = call
  const key = given.argument(0)!
  const reason = given.text('reason')
  if (reason === undefined || reason.trim() === '')
    throw fail('usage', { what: '--reason says why the effect may happen again; it is recorded.' })
  await withOperator(await openProject(call), call, async (operator) => {
    const released = await operator.call('POST /effects/release', { body: { key, reason } })
    if (mode.json) return await out.json(released)
    const [holder] = released.items
    out.line(`released ${holder?.shown ?? key}: run ${holder?.runId ?? ''} holds it no longer`)
  })
}

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
