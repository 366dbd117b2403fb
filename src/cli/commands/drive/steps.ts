/** `svc runs steps`: the outline that the console draws, or one step in full. */
import { isJsonObject, type JsonValue } from '../../../base/json/json.ts'
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import { shortDuration } from '../../../base/text/short-text.ts'
import type { OutlineRow, RunOutline } from '../../../operations/runs.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { timeOfDay } from '../../../terminal/time.ts'
import { withOperator } from '../../project/server/operator.ts'
import { runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { printOne, printTable } from '../../shell/screen/list.ts'

export async function runsSteps(call: CommandContext<unknown>): Promise<void> {
  const { given, mode, out } = call
  const ordinal = wholeNumber(given.argument(1), 'ordinal', 1)
  const after = wholeNumber(given.text('since'), 'since', 0)
  await withOperator(call, async (operator) => {
    const id = await runIdOf(given.required(0), operator)
    if (ordinal !== undefined) {
      const step = await operator.call('GET /runs/:id/step', { id, query: { ordinal: String(ordinal) } })
      const content = isJsonObject(step.content) ? step.content : {}
      return await printOne(call, step, [
        { key: 'step', value: String(step.ordinal) },
        { key: 'type', value: safeText(step.type) },
        ...Object.entries(content).map(([key, value]) => ({ key: safeText(key), value: textOf(value) })),
      ])
    }
    const outline = await operator.call('GET /runs/:id/outline', {
      id,
      query: { ...(after !== undefined && { after: String(after) }) },
    })
    if (mode.json) return await out.json(outline)
    return printTable(call, outline.rows, columns(outline), 'No steps yet.')
  })
}

const textOf = (value: JsonValue): string => (typeof value === 'string' ? safeText(value) : safeJson(value))

const columns = ({ runs }: RunOutline): readonly TableColumn<OutlineRow>[] => [
  { title: 'NO', cell: ([ordinal]) => String(ordinal), align: 'right' },
  { title: 'TIME', cell: (row) => timeOfDay(row[4]), plain: (row) => new Date(row[4]).toISOString() },
  { title: 'TYPE', cell: ([, run, type]) => `${'  '.repeat(runs[run]?.depth ?? 0)}${safeText(type)}` },
  { title: 'TOOK', cell: (row) => (row[5] === null ? 'open' : shortDuration(row[5] - row[4])), align: 'right' },
  { title: 'ABOUT', cell: (row) => safeText(row[3]) },
]
