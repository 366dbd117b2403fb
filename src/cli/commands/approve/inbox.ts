import type { InboxItem, OperatorList } from '../../../spec/operator.ts'
import { describeCause, describeSubject } from '../../../spec/task-card.ts'
import { readInboxItem } from '../../../spec/task-content.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { safeText } from '../../../base/escape-text.ts'
import { shortDuration, shortId } from '../../../base/short-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { decideTask } from '../../runs/decide-task.ts'
import { printList } from '../../shell/list.ts'
import { withOperator, type OperatorClient } from '../../project/operator.ts'
import { openProject, type Project } from '../../project/project.ts'
import { agentOf } from '../../project/reference.ts'
import { openTarget } from '../../project/target.ts'
import { watchList } from '../../shell/watch-list.ts'
import type { inboxAnswer, inboxCount, inboxItem } from '../../answers/approve.ts'
import type { AnswerOf } from '../../answers/schema.ts'

const NOTHING = 'Nothing waits for anybody.'

export async function inbox(
  call: CommandContext<AnswerOf<typeof inboxAnswer | typeof inboxCount | typeof inboxItem>>,
): Promise<void> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  if (given.flag('watch'))
    return await watchList(call, {
      // Opens and closes the store per refresh: without a server, the data directory must stay free for one.
      loadItems: async () => (await withOperator(project, call, (operator) => read(call, operator))).items,
      keyOf: ({ userTaskId, createdAt }) => `${userTaskId} ${createdAt}`,
      columns,
      toJson: ({ task: _task, ...item }) => item,
      emptyMessage: NOTHING,
      soundsBell: true,
    })
  const list = await withOperator(project, call, (operator) => read(call, operator))
  if (given.flag('count')) return mode.json ? await out.json({ total: list.total }) : out.line(String(list.total))
  await printList(call, mode.json ? published(list) : list, columns(io.clock.now()), NOTHING)
  if (mode.json || !io.stdout.isTTY || list.items.length === 0) return
  if (mode.interactive && !given.flag('all')) return await pick(call, project)
  out.hint('answer:  svc approve TASK   svc reject TASK --reason …   svc answer TASK VALUE   svc send RUN TEXT')
}

async function read({ given }: CommandContext, operator: OperatorClient): Promise<OperatorList<InboxItem>> {
  const [agent, kind] = [given.text('agent'), given.text('kind')]
  const query = {
    ...(agent !== undefined && { agent: (await agentOf(agent, operator)).agentId }),
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

/** Opens one task after the other until none is left or the person stops. */
async function pick(call: CommandContext, project: Project): Promise<void> {
  const { io, out, signal } = call
  const target = await openTarget(call, project)
  const { operator } = target
  if (!operator) return
  try {
    for (;;) {
      const { items } = await read(call, operator)
      if (items.length === 0) return out.message(NOTHING)
      const chosen = await io.prompts.select('open:', [...items.map(toChoice), { value: '', name: 'quit' }], signal)
      const item = items.find(({ userTaskId }) => userTaskId === chosen)
      if (!item) return
      if (item.kind === 'reply') await reply(call, operator, item)
      else {
        const desk = { call, client: target.client, answering: target.answering, operator, agent: item.agent }
        await decideTask(desk, item.runId, readInboxItem(item), signal)
      }
    }
  } finally {
    await target.close()
  }
}

const toChoice = (item: InboxItem): { readonly value: string; readonly name: string } => ({
  value: item.userTaskId,
  name: safeText(`${shortId(item.userTaskId)}  ${item.kind}  ${item.agent}  ${whatOf(item)}`),
})

async function reply({ io, out, signal }: CommandContext, operator: OperatorClient, item: InboxItem): Promise<void> {
  out.message(safeText(item.why))
  const text = (await io.prompts.text('Reply (empty: later):', signal)).trim()
  if (text === '') return
  const { error } = await operator.call('POST /runs/:id/messages', { id: item.runId, body: { text } })
  out.message(error === undefined ? '  sent' : safeText(error))
}

/** Leaves out the fields that only the approval card needs. */
const published = ({
  items,
  total,
}: OperatorList<InboxItem>): OperatorList<Omit<InboxItem, 'task'>> & OperatorList<InboxItem> => ({
  items: items.map(({ task: _task, ...item }) => item),
  total,
})

const columns = (now: number): readonly TableColumn<InboxItem>[] => [
  { title: 'TASK', cell: ({ userTaskId }) => shortId(userTaskId), plain: ({ userTaskId }) => userTaskId },
  {
    title: 'KIND',
    cell: ({ kind, apiCompletable }) => (apiCompletable ? kind : `${kind} (operator)`),
    plain: ({ kind }) => kind,
  },
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'WHAT', cell: whatOf },
  {
    title: 'WAITING',
    cell: ({ createdAt }) => shortDuration(now - Date.parse(createdAt)),
    plain: ({ createdAt }) => createdAt,
  },
  { title: 'EXPIRES', cell: (item) => expiry(item, now), plain: ({ expiresAt }) => expiresAt ?? '' },
]

function whatOf(item: InboxItem): string {
  const task = readInboxItem(item)
  return task.tool ? describeSubject(task) : describeCause(task)
}

const expiry = ({ expiresAt, onTimeout }: InboxItem, now: number): string =>
  expiresAt === null
    ? '—'
    : `${shortDuration(Math.max(0, Date.parse(expiresAt) - now))}${onTimeout ? ` → ${onTimeout}` : ''}`
