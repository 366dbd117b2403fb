import type { OperatorList, ValueOf } from '../../../operations/schema.ts'
import type { InboxItem, InboxTask } from '../../../operations/tasks.ts'
import { describeLooking, describeOperator } from '../../../view/task/task-people.ts'
import { describeSubject, nameOfKind } from '../../../view/task/task-subject.ts'
import { unlessLeft } from '../../shell/io.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { readInboxItem } from '../../../view/task/task-content.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { fitApproval } from '../../../terminal/approval.ts'
import type { Canvas } from '../../../terminal/screen.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { wrapText } from '../../../terminal/text.ts'
import { shortDuration, shortId, timeLeft, withoutNamespace } from '../../../base/text/short-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { createInlineSurface, type CardSurface } from '../../runs/card/card-surface.ts'
import { decideTask } from '../../runs/card/decide-task.ts'
import { describeHeldRuns, readHeldRuns, timesFor } from '../../runs/held.ts'
import { runListScreen } from '../../runs/list-screen.ts'
import { printTable } from '../../shell/screen/list.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { openProject, type Project } from '../../project/project.ts'
import { resolveAgent } from '../../project/reference.ts'
import { withTargetOf } from '../../project/server/target.ts'
import { watchList } from '../../shell/screen/watch-list.ts'
import type { inboxAnswer, inboxCount } from '../../answers/approve.ts'

const NOTHING = 'Nothing waits for anybody.'

export async function inbox(
  call: CommandContext<ValueOf<typeof inboxAnswer> | ValueOf<typeof inboxCount> | InboxTask>,
): Promise<void> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  const isLive = mode.interactive && !mode.json && io.stdout.isTTY && !given.flag('count')
  if (isLive && !mode.accessible) return await openInbox(call, project)
  if (given.flag('watch'))
    return await watchList(call, {
      // Opens and closes the store per refresh: without a server, the data directory must stay free for one.
      loadItems: async () => (await withOperatorOf(project, call, (operator) => read(call, operator))).items,
      keyOf,
      columns,
      toJson: publishedItem,
      emptyMessage: NOTHING,
      soundsBell: true,
    })
  const list = await withOperatorOf(project, call, (operator) => read(call, operator))
  if (given.flag('count')) return mode.json ? await out.json({ total: list.total }) : out.line(String(list.total))
  if (isLive && !given.flag('all')) return await pick(call, project)
  // The store is opened again only where nobody serves it.
  const held = await withOperatorOf(project, call, readHeldRuns)
  if (mode.json) return await out.json({ ...published(list), ...(held.length > 0 && { held }) })
  printTable(call, list.items, columns(io.clock.now()), NOTHING)
  for (const each of held) out.message(describeHeldRuns(each, timesFor(io.stdout, io.clock)))
  if (!io.stdout.isTTY || list.items.length === 0) return
  out.hint('answer:  svc approve TASK   svc reject TASK --reason …   svc answer TASK VALUE   svc send RUN TEXT')
}

const keyOf = ({ userTaskId, createdAt, approvals }: InboxItem): string =>
  `${userTaskId} ${createdAt} ${approvals.have}`

/** The inbox as a full screen, in which a task is decided in the detail pane. */
async function openInbox(call: CommandContext, project: Project): Promise<void> {
  const { io, signal } = call
  const [status, held] = await withOperatorOf(
    project,
    call,
    async (operator) => [await operator.call('GET /status', {}), await readHeldRuns(operator)] as const,
  )
  await runListScreen<InboxItem>(call, {
    title: (count) => `svc inbox · ${count === 0 ? 'nothing waits' : `${count} waiting`}`,
    note: safeText(
      [
        describeOperator(status.operator),
        ...held.map((each) => describeHeldRuns(each, timesFor(io.stdout, io.clock))),
      ].join(' · '),
    ),
    // Opens and closes the store per refresh: without a server, the data directory must stay free for one.
    loadItems: async () => (await withOperatorOf(project, call, (operator) => read(call, operator))).items,
    idOf: ({ userTaskId }) => userTaskId,
    keyOf,
    columns,
    emptyMessage: NOTHING,
    isDetailFramed: true,
    soundsBell: call.given.flag('watch'),
    drawDetail: (item, canvas, rows) => drawTask(item, canvas, rows, io.clock.now()),
    isClosed: (item) => item === undefined || item.people?.decided !== undefined,
    open: (item, surface, until) =>
      withTargetOf(project, call, async (target) => {
        if (!target.operator) return
        if (item.kind === 'reply') return await reply(target.operator, item, surface, until)
        const context = { ...target, call, agent: item.agent }
        await decideTask(context, item.runId, readInboxItem(item), AbortSignal.any([signal, until]), surface)
      }),
  })
}

/** A task that is not open yet. */
function drawTask(item: InboxItem, canvas: Canvas, rows: number, now: number): readonly string[] {
  if (item.kind === 'reply') return wrapText(safeText(item.why), canvas.width)
  const footer = canvas.theme.dim('Enter opens')
  return fitApproval(canvas, presentKeyedTask(readInboxItem(item), now), rows, { footer }).lines
}

async function read({ given }: CommandContext, operator: OperatorClient): Promise<OperatorList<InboxItem>> {
  const [agent, kind] = [given.text('agent'), given.text('kind')]
  const query = {
    ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).agentId }),
    ...(kind !== undefined && { kind }),
    ...(given.flag('all') && { all: 'true' }),
    ...(given.flag('operator') && { operator: 'true' }),
  }
  const list = await operator.call('GET /tasks', { query })
  if (!given.flag('mine')) return list
  const me = `operator:${(await operator.call('GET /status', {})).operator}`
  const items = list.items.filter(({ approvals }) => !approvals.by.includes(me))
  return { items, total: items.length }
}

/** For a screen reader: opens one task after the other until none is left or the person stops. */
async function pick(call: CommandContext, project: Project): Promise<void> {
  const { io, out, signal } = call
  await withTargetOf(project, call, async (target) => {
    const { operator } = target
    if (!operator) return
    for (;;) {
      const { items } = await read(call, operator)
      if (items.length === 0) return out.message(NOTHING)
      const chosen = await io.prompts.select('open:', [...items.map(toChoice), { value: '', name: 'quit' }], signal)
      const item = items.find(({ userTaskId }) => userTaskId === chosen)
      if (!item) return
      if (item.kind === 'reply') await reply(operator, item, createInlineSurface(call), signal)
      else await decideTask({ ...target, call, agent: item.agent }, item.runId, readInboxItem(item), signal)
    }
  })
}

const toChoice = (item: InboxItem): { readonly value: string; readonly name: string } => ({
  value: item.userTaskId,
  name: safeText(`${shortId(item.userTaskId)}  ${nameOfKind(item.kind)}  ${item.agent}  ${whatOf(item)}`),
})

async function reply(
  operator: OperatorClient,
  item: InboxItem,
  surface: CardSurface,
  signal: AbortSignal,
): Promise<void> {
  const question = wrapText(safeText(item.why), surface.canvas.width)
  surface.show(question)
  const text = (await unlessLeft(surface.text('Reply (empty: later):', signal)))?.trim() ?? ''
  if (text === '') return surface.end([])
  const { error } = await operator.call('POST /runs/:id/messages', { id: item.runId, body: { text } })
  surface.end([...question, error === undefined ? '  sent' : safeText(error)])
}

/** Leaves out the fields that only the card needs. */
export const publishedItem = ({ task: _task, people: _people, ...item }: InboxItem): InboxTask => item

const published = ({ items, total }: OperatorList<InboxItem>) => ({ items: items.map(publishedItem), total })

const columns = (now: number): readonly TableColumn<InboxItem>[] => [
  { title: 'TASK', cell: ({ userTaskId }) => shortId(userTaskId), plain: ({ userTaskId }) => userTaskId },
  {
    title: 'KIND',
    dropOrder: 3,
    cell: ({ kind, apiCompletable }) => (apiCompletable ? nameOfKind(kind) : `${nameOfKind(kind)} (operator)`),
    plain: ({ kind }) => kind,
  },
  { title: 'AGENT', dropOrder: 2, cell: ({ agent }) => agent, short: ({ agent }) => withoutNamespace(agent) },
  {
    title: 'WHAT',
    isFlexible: true,
    cell: (item) => `${whatOf(item)}${votesOf(item)}`,
    short: (item) => `${item.tool ? withoutNamespace(whatOf(item)) : whatOf(item)}${votesOf(item)}`,
    plain: whatOf,
  },
  {
    title: 'WAITING',
    dropOrder: 4,
    cell: ({ createdAt }) => shortDuration(now - Date.parse(createdAt)),
    plain: ({ createdAt }) => createdAt,
  },
  {
    title: 'EXPIRES',
    dropOrder: 1,
    style: (theme, { expiresAt }) => (expiresAt === null ? theme.dim : theme.waiting),
    cell: (item) => expiry(item, now),
    plain: ({ expiresAt }) => expiresAt ?? '',
  },
]

/** How many have approved, whether it is the reader's turn, and who is looking at the task. */
function votesOf({ approvals: { have, need }, people }: InboxItem): string {
  if (people === undefined) return ''
  const isPlain = need === 1 && people.standing === 'may_answer'
  const looking = describeLooking(people)
  const parts = [
    ...(isPlain ? [] : [`${have}/${need}`]),
    ...(people.standing === 'may_answer' ? [] : ['not you']),
    ...(looking === undefined ? [] : [looking]),
  ]
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const whatOf = (item: InboxItem): string => describeSubject(readInboxItem(item))

const expiry = ({ expiresAt, onTimeout }: InboxItem, now: number): string =>
  expiresAt === null ? '—' : `${timeLeft(Date.parse(expiresAt) - now)}${onTimeout ? ` → ${onTimeout}` : ''}`
