import { setTimeout as after } from 'node:timers/promises'
import type { UserTask } from '../../client/index.ts'
import type { InboxItem, List } from '../../spec/operator.ts'
import { drawTable, type Column } from '../../terminal/table.ts'
import { safeText } from '../../terminal/text.ts'
import { shortDuration, shortId } from '../../terminal/time.ts'
import type { Call } from '../command.ts'
import { decideTask } from '../decide-task.ts'
import { answerScreen, printList } from '../list.ts'
import { withOperator, type Operator } from '../operator.ts'
import { openProject, type Project } from '../project.ts'
import { agentOf } from '../reference.ts'
import { openTarget } from '../target.ts'
import { subjectOf } from '../task-desk.ts'

/** How often `--watch` looks; each look is one query. */
const LOOK_EVERY_MS = 1000

export async function inbox(call: Call): Promise<void> {
  const { given, mode, out, io } = call
  const project = await openProject(call)
  if (given.flag('watch')) return await watch(call, project)
  const list = await withOperator(project, call, (operator) => read(call, operator))
  if (given.flag('count')) return mode.json ? await out.json({ total: list.total }) : out.line(String(list.total))
  await printList(call, mode.json ? published(list) : list, columns(io.clock.now()), 'Nothing waits for anybody.')
  if (mode.json || !io.stdout.isTTY || list.items.length === 0) return
  if (mode.interactive && !given.flag('all')) return await pick(call, project)
  out.hint('answer:  svc approve TASK   svc reject TASK --reason …   svc answer TASK VALUE   svc send RUN TEXT')
}

async function read({ given, io }: Call, operator: Operator): Promise<List<InboxItem>> {
  const [agent, kind] = [given.text('agent'), given.text('kind')]
  const query = {
    ...(agent !== undefined && { agent: (await agentOf(agent, operator)).agentId }),
    ...(kind !== undefined && { kind }),
    ...(given.flag('all') && { all: 'true' }),
    ...(given.flag('operator') && { operator: 'true' }),
  }
  const list = await operator.call('GET /tasks', { query })
  if (!given.flag('mine')) return list
  const me = `operator:${io.env['SVC_OPERATOR'] ?? io.env['USER'] ?? io.env['USERNAME'] ?? 'operator'}`
  const items = list.items.filter(({ approvals }) => !approvals.by.includes(me))
  return { items, total: items.length }
}

/** Opens one task after the other until none is left or the person has had enough. */
async function pick(call: Call, project: Project): Promise<void> {
  const { io, out, signal } = call
  const target = await openTarget(call, project)
  const { operator } = target
  if (!operator) return
  try {
    for (;;) {
      const { items } = await read(call, operator)
      if (items.length === 0) return out.say('Nothing waits for anybody.')
      const chosen = await io.prompts.select('open:', [...items.map(toChoice), { value: '', name: 'quit' }], signal)
      const item = items.find(({ userTaskId }) => userTaskId === chosen)
      if (!item) return
      if (item.kind === 'reply') await reply(call, operator, item)
      else if (item.task) {
        const desk = { call, client: target.client, answering: target.answering, operator, agent: item.agent }
        await decideTask(desk, item.runId, toUserTask(item, item.task), signal)
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

/** The client's content and the operator's are the same fields. */
const toUserTask = (item: InboxItem, content: NonNullable<InboxItem['task']>): UserTask => ({
  userTaskId: item.userTaskId,
  runId: item.runId,
  kind: item.kind,
  title: content.title,
  apiCompletable: item.apiCompletable,
  content: content as unknown as UserTask['content'],
})

async function reply({ io, out, signal }: Call, operator: Operator, item: InboxItem): Promise<void> {
  out.say(safeText(item.why))
  const text = (await io.prompts.text('Reply (empty: later):', signal)).trim()
  if (text === '') return
  const { error } = await operator.call('POST /runs/:id/messages', { id: item.runId, body: { text } })
  out.say(error === undefined ? '  sent' : safeText(error))
}

/** The queue as it changes: repainted on a terminal with a bell for what is new, else a line for each new task. */
async function watch(call: Call, project: Project): Promise<void> {
  const { mode, out, io, signal } = call
  const screen = answerScreen(call)
  const known = new Set<string>()
  for (let first = true; ; first = false) {
    // Opened for each look: without a server the data directory must stay free for one.
    const list = await withOperator(project, call, (operator) => read(call, operator))
    const fresh = list.items.filter((item) => !known.has(keyOf(item)))
    fresh.forEach((item) => known.add(keyOf(item)))
    if (mode.json) for (const item of published({ items: fresh, total: 0 }).items) await out.ndjson(item)
    else if (io.stdout.isTTY) {
      const table = drawTable(screen, columns(io.clock.now()), list.items)
      screen.status(...(list.items.length > 0 ? table : ['Nothing waits for anybody.']))
      if (fresh.length > 0 && !first) io.stderr.write('\u0007')
    } else if (fresh.length > 0) drawTable(screen, columns(io.clock.now()), fresh).forEach(out.line)
    await after(LOOK_EVERY_MS, undefined, { signal }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : error
    })
  }
}

const keyOf = ({ userTaskId, createdAt }: InboxItem): string => `${userTaskId} ${createdAt}`

/** Without what only the card needs. */
const published = ({ items, total }: List<InboxItem>): List<Omit<InboxItem, 'task'>> & List<InboxItem> => ({
  items: items.map(({ task: _task, ...item }) => item),
  total,
})

const columns = (now: number): readonly Column<InboxItem>[] => [
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
  return item.tool === undefined ? item.why : subjectOf(item)
}

const expiry = ({ expiresAt, onTimeout }: InboxItem, now: number): string =>
  expiresAt === null
    ? '—'
    : `${shortDuration(Math.max(0, Date.parse(expiresAt) - now))}${onTimeout ? ` → ${onTimeout}` : ''}`
