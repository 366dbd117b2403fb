/** `svc runs undo`. Source: docs/design/steering.md#undo */
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import { fail, type Failure } from '../../../base/failure.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { RunStatusBody } from '../../../spec/api.ts'
import { isTerminal } from '../../../spec/run/run.ts'
import type { RunView } from '../../../operations/runs.ts'
import type { UndoItemView, UndoPlanView } from '../../../operations/steering.ts'
import { describeUndoItem, describeUndoing } from '../../../view/undo.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { undoneRuns } from '../../answers/steer.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { OPERATOR_URL, type OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { printTable } from '../../shell/screen/list.ts'

/** Shows what would be undone and asks for confirmation; then undoes it, and follows until it is done, fails or waits. */
export async function runsUndo(call: CommandContext<ValueOf<typeof undoneRuns> | UndoPlanView>): Promise<number> {
  const { given, mode, out } = call
  return await withOperator(call, async (operator) => {
    const id = await runIdOf(given.required(0), operator)
    const plan = await operator.call('GET /runs/:id/undo', { id })
    if (given.flag('plan')) {
      if (mode.json) await out.json(plan)
      else printPlan(call, plan)
      return 0
    }
    const asked = plan.items.filter(isUndoable)
    if (asked.length === 0) throw whyNothing(plan)
    if (!mode.json && !mode.yes) printPlan(call, plan)
    const calls = asked.length === 1 ? 'this call' : `these ${asked.length} calls, newest first`
    if (!(await confirmLoss(call, `Undo ${calls}?`))) return 1
    const reason = given.text('reason')
    const body = {
      calls: asked.map(({ runId, toolCallId }) => ({ runId, toolCallId })),
      ...(reason !== undefined && { reason }),
    }
    try {
      const first = await operator.call('POST /runs/:id/undo', { id, body })
      const after = operator.isServed
        ? await followUndo(call, operator, id, first)
        : await operator.call('GET /runs/:id/undo', { id })
      return await report(call, operator, asked, after, operator.isServed)
    } catch (cause) {
      if (!isConnectionLost(cause)) throw cause
      throw fail('undo_not_followed', { runId: id }, { cause })
    }
  })
}

/** The error codes of a socket whose server is gone. */
const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && LOST.has(String(error.code))
const LOST: ReadonlySet<string> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ENOENT'])

const isUndoable = ({ state, undo }: UndoItemView): boolean => state === 'open' && undo?.decision !== 'deny'

function whyNothing({ runId, items }: UndoPlanView): Failure {
  const underWay = items.find(({ state }) => state === 'under_way')
  if (underWay?.undoneBy) {
    const { runId: by, status } = underWay.undoneBy
    return fail('undo_under_way', { runId: by, undone: underWay.runId, status })
  }
  const undone = items.find(({ state }) => state === 'undone')?.undoneBy
  return undone ? fail('already_undone', { runId, by: undone.runId }) : fail('nothing_to_undo', { runId })
}

/** Proxies end requests that wait longer. */
const WAIT_SECONDS = 20

/** Follows one undoing run after another. */
async function followUndo(
  { signal }: CommandContext,
  operator: OperatorClient,
  id: string,
  first: RunView,
): Promise<UndoPlanView> {
  for (let next = first.runId; ;) {
    const request = new Request(new URL(`/v1/runs/${next}`, OPERATOR_URL), {
      headers: { prefer: `wait=${WAIT_SECONDS}` },
      signal,
    })
    const response = await operator.send(request)
    const run = (await response.json()) as RunStatusBody
    const plan = await operator.call('GET /runs/:id/undo', { id })
    const underWay = plan.items.find(({ state }) => state === 'under_way')?.undoneBy
    if (!underWay || underWay.waitingOn !== undefined || underWay.hold || !response.ok) return plan
    if (isTerminal(run.status) && underWay.runId === next) return plan
    next = underWay.runId
  }
}

/** @returns the exit code: 1 where one was not undone, 3 where a person is asked, 9 where it is held */
async function report(
  call: CommandContext<ValueOf<typeof undoneRuns>>,
  operator: OperatorClient,
  asked: readonly UndoItemView[],
  plan: UndoPlanView,
  isServed: boolean,
): Promise<number> {
  const { mode, out } = call
  const keys = new Set(asked.map(keyOf))
  const items = plan.items.filter((item) => keys.has(keyOf(item)))
  const runs: RunView[] = []
  if (mode.json) {
    for (const run of new Set(items.flatMap(({ undoneBy }) => undoneBy?.runId ?? [])))
      runs.push(...(await operator.call('GET /runs', { query: { ending: run } })).items)
    await out.json({ items: runs, total: runs.length, calls: items })
  } else {
    for (const item of items)
      if (item.undoneBy) out.line(safeText(`${item.tool}: ${describeUndoing(item.undoneBy)}`))
      else if (item.why !== undefined) out.line(safeText(`${item.tool}: not undone: ${item.why}`))
      else out.line(safeText(`${item.tool}: left, since a newer call is not undone yet`))
  }
  const waiting = items.find(({ state }) => state === 'under_way')?.undoneBy
  if (!isServed) {
    out.message('No server runs here; the next one carries it out.')
    return 0
  }
  if (waiting?.userTaskId !== undefined) {
    const task = shortId(waiting.userTaskId)
    const how =
      waiting.waitingOn === 'approval'
        ? `svc approve ${task}   or   svc reject ${task} --reason …`
        : `svc answer ${task} …`
    out.message(`waiting for a person: ${waiting.waitingOn}. Answer with: ${how}`)
    return 3
  }
  if (waiting) {
    out.message('It continues by itself when what it needs can be reached.')
    return 9
  }
  return items.every(({ state }) => state === 'undone') ? 0 : 1
}

const keyOf = ({ runId, toolCallId }: UndoItemView): string => `${runId} ${toolCallId}`

/** A terminal shows every argument, since the person who confirms must have seen them. */
function printPlan(call: CommandContext, { items }: UndoPlanView): void {
  const { io, out } = call
  if (!io.stdout.isTTY) return printTable(call, items, COLUMNS, '')
  if (items.length === 0) return out.message('The run made nothing.')
  const now = io.clock.now()
  for (const item of items) {
    const { tool, arguments: given, at, runId, undo } = item
    out.line(`${safeText(tool)} ${safeJson(given)}`)
    out.line(`  made    ${formatRelative(Date.parse(at), now)}, by run ${shortId(runId)} of ${safeText(item.agent)}`)
    if (undo) out.line(`  undo    ${safeText(undo.tool)} ${safeJson(undo.arguments)}`)
    out.line(`  ${undo ? 'says    ' : ''}${safeText(describeUndoItem(item))}`)
  }
}

const COLUMNS: readonly TableColumn<UndoItemView>[] = [
  { title: 'TOOL', cell: ({ tool }) => safeText(tool) },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'UNDO', cell: ({ undo }) => (undo ? safeText(`${undo.tool} ${safeJson(undo.arguments)}`) : '') },
  { title: 'SAYS', cell: (item) => safeText(describeUndoItem(item)) },
  { title: 'RUN', cell: ({ runId }) => runId },
  timeColumn('MADE', ({ at }) => at, 0),
]
