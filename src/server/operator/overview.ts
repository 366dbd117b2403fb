/** How the last 24 hours went, for a person who looks for five seconds. Source: docs/design/console.md#routes */
import { toIsoText } from '../../base/clock.ts'
import { shortenText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { shortDuration, shortId } from '../../base/text/short-text.ts'
import type { OverviewCell, OverviewView } from '../../operations/insight.ts'
import { describeCost, joinCosts } from '../../spec/price.ts'
import { describeSubject } from '../../view/task/task-subject.ts'
import type { RunCount, StepMark } from '../../store/queries.ts'
import type { ServerServices } from '../runtime/services.ts'
import { readHold } from '../view/hold.ts'
import type { OperatorAction } from './people/act.ts'
import { toWorkerView } from './workers.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Every open page asks again when something changes, and the answer reads thousands of rows. */
const KEPT_MS = 5000

const MOST_STEPS = 3000
const MOST_TASKS = 500
const MOST_TASK_BYTES = 4 * 1024 * 1024
const MOST_OPEN = 100
/** Rows of a list. */
const MOST_ROWS = 5
const MOST_OF_ERROR = 300
/** Clocks that differ by less agree, as people see it. */
const CLOSE_MS = 100

type Fact = OverviewView['facts'][number]
type List = OverviewView['lists'][number]

const kept = new WeakMap<ServerServices, { readonly at: number; readonly answer: Promise<OverviewView> }>()

export const getOverview: OperatorAction<'GET /overview'> = async (context) => {
  const { services } = context
  const at = services.clock.monotonic()
  const last = kept.get(services)
  if (last && at - last.at < KEPT_MS) return await last.answer
  const answer = readOverview(services)
  kept.set(services, { at, answer })
  // A failure is told to whoever waits for it, and to nobody else.
  answer.catch(() => kept.delete(services))
  return await answer
}

async function readOverview(services: ServerServices): Promise<OverviewView> {
  const { store, workspace, clock } = services
  const since = clock.now() - DAY_MS
  const counts = await store.runCounts(workspace.id, since)
  const marks = await store.stepMarks(workspace.id, since, MOST_STEPS)
  const waiting = await readWaiting(services)
  const held = await readHeld(services)
  const lists = [
    waiting.list,
    await readFailed(services, since),
    held,
    latenciesOf('Slow tools', marks, 'ToolCall'),
    latenciesOf('Slow models', marks, 'Reasoning'),
    await readDecisions(services, marks, since),
  ]
  return {
    since: toIsoText(since),
    facts: [
      waiting.fact,
      { name: 'Runs', text: count(sumOf(counts)), href: '/runs?since=86400000', hours: hoursOf(counts) },
      describeFailures(counts),
      { name: 'Held', text: count(held.rows.length) },
      ...(await describeSpend(services)),
      ...(await describeServers(services)),
      ...(await describeNotices(services)),
    ],
    lists: lists.filter(({ rows }) => rows.length > 0),
  }
}

/** Tasks of people and runs that wait for a reply, the longest first. */
async function readWaiting({
  store,
  workspace,
}: ServerServices): Promise<{ readonly fact: Fact; readonly list: List }> {
  const tasks = await store.tasks({ workspaceId: workspace.id }, { skip: 0, take: MOST_TASKS })
  const replies = await store.runs(
    { workspaceId: workspace.id, status: ['WaitingForResponse'] },
    { skip: 0, take: MOST_ROWS },
  )
  const all = [
    ...tasks.items.map((task) => ({ id: task.id, at: task.createdAt, runId: task.runId, text: describeSubject(task) })),
    ...replies.items.map(({ id, usage, startedAt }) => ({
      id,
      at: usage.waitingSince ?? startedAt,
      runId: id,
      text: 'A reply',
    })),
  ].sort((a, b) => a.at - b.at)
  const [oldest] = all
  return {
    fact: {
      name: 'Waiting',
      text: count(tasks.total + replies.total),
      href: '/inbox?tab=all',
      ...(oldest && { at: toIsoText(oldest.at) }),
    },
    list: {
      title: 'Waiting for people',
      heads: toHeads('What', 'Run', 'Since'),
      rows: all
        .slice(0, MOST_ROWS)
        .map(({ id, at, runId, text }) => [
          { text, href: `/inbox/${id}?tab=all` },
          { text: shortId(runId), href: `/runs/${runId}` },
          { at: toIsoText(at) },
        ]),
    },
  }
}

async function readFailed({ store, workspace }: ServerServices, since: number): Promise<List> {
  const filter = { workspaceId: workspace.id, since, status: ['Failed'], roots: true }
  const { items } = await store.runs(filter, { skip: 0, take: MOST_ROWS })
  return {
    title: 'Failed',
    heads: toHeads('Agent', 'Why', 'When'),
    rows: items.map(({ id, agentName, error, finishedAt, startedAt }) => [
      { text: safeText(agentName), href: `/runs/${id}` },
      { text: safeText(shortenText(error ?? '', MOST_OF_ERROR)) },
      { at: toIsoText(finishedAt ?? startedAt) },
    ]),
  }
}

/** Open runs that do nothing for now, of the newest. */
async function readHeld(services: ServerServices): Promise<List> {
  const { store, workspace } = services
  const filter = { workspaceId: workspace.id, status: ['Running'], roots: true }
  const { items } = await store.runs(filter, { skip: 0, take: MOST_OPEN })
  const rows: OverviewCell[][] = []
  for (const run of items) {
    const hold = await readHold(services, run)
    if (!hold) continue
    rows.push([
      { text: safeText(run.agentName), href: `/runs/${run.id}` },
      { text: words(hold.reason) },
      { at: hold.since },
    ])
  }
  return { title: 'Held', heads: toHeads('Agent', 'Why', 'Since'), rows }
}

/** What policies decided, and what people answered. */
async function readDecisions(
  { store, workspace }: ServerServices,
  marks: readonly StepMark[],
  since: number,
): Promise<List> {
  const { items } = await store.tasksInScope(
    { workspaceId: workspace.id },
    { take: MOST_TASKS, status: ['completed', 'expired'] },
    MOST_TASK_BYTES,
  )
  const answers = items.flatMap(({ task }) =>
    (task.completedAt ?? 0) >= since ? [task.answer?.outcome ?? task.status] : [],
  )
  const verdicts = marks.flatMap(({ type, name }) => (type === 'PolicyDecision' ? [name] : []))
  const rowsOf = (by: string, all: readonly string[]): OverviewCell[][] =>
    [...groupBy(all, (each) => each)]
      .sort(([, a], [, b]) => b.length - a.length)
      .map(([name, each]) => [{ text: by }, { text: words(name) }, { text: count(each.length) }])
  return {
    title: 'Decisions',
    heads: toHeads('By', 'What', 'Times#'),
    rows: [...rowsOf('policies', verdicts), ...rowsOf('people', answers)],
  }
}

function latenciesOf(title: string, marks: readonly StepMark[], type: StepMark['type']): List {
  const groups = groupBy(
    marks.filter((each) => each.type === type),
    ({ name }) => name,
  )
  const rows = [...groups]
    .map(([name, each]) => ({ name, each, times: each.map(({ ms }) => ms).sort((a, b) => a - b) }))
    .map(({ name, each, times }) => ({ name, each, median: percentile(times, 0.5), most: percentile(times, 0.95) }))
    .sort((a, b) => b.most - a.most)
  return {
    title,
    heads: toHeads('Name', 'Median#', '95 % within#', 'Calls#', 'Failed#'),
    rows: rows
      .slice(0, MOST_ROWS)
      .map(({ name, each, median, most }) => [
        { text: safeText(name) },
        { text: shortDuration(median) },
        { text: shortDuration(most) },
        { text: count(each.length) },
        { text: count(each.filter(({ isFailed }) => isFailed).length) },
      ]),
  }
}

/** @param times sorted; not empty */
const percentile = (times: readonly number[], share: number): number => times[Math.ceil(share * times.length) - 1] ?? 0

const hoursOf = (counts: readonly RunCount[]): NonNullable<OverviewCell['hours']> =>
  Array.from({ length: 24 }, (_, hour) => {
    const within = counts.filter((each) => Math.min(23, each.hour) === hour)
    return { runs: sumOf(within), failed: sumOf(within.filter(({ status }) => status === 'Failed')) }
  })

/** How many failed, and why, the most frequent first: `3, 2 model error, 1 limit exceeded`. */
function describeFailures(counts: readonly RunCount[]): Fact {
  const failed = counts.filter(({ status }) => status === 'Failed')
  const codes = [...groupBy(failed, ({ errorCode }) => errorCode ?? 'internal')]
    .map(([code, each]) => [sumOf(each), words(code)] as const)
    .sort(([a], [b]) => b - a)
    .map(([runs, code]) => `${count(runs)} ${code}`)
  const text = [count(sumOf(failed)), ...(codes.length > 0 ? [`(${codes.slice(0, MOST_ROWS).join(', ')})`] : [])]
  return { name: 'Failed', text: text.join(' '), href: '/runs?state=failed&since=86400000' }
}

/** What was spent today in UTC, beside the caps of the plan. */
async function describeSpend({ store, workspace, config, clock }: ServerServices): Promise<readonly Fact[]> {
  const now = clock.now()
  const today = now - (now % DAY_MS)
  const { plan } = config
  const rows = await store.costs(workspace.id, today, now, 50_000)
  const tokens = rows.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0)
  const cost = describeCost(joinCosts(rows.map((each) => each.cost))) ?? 'nothing billed'
  const of = (used: string, most: string | undefined): string => (most === undefined ? used : `${used} of ${most}`)
  const most = (cap: number | undefined): string | undefined => (cap === undefined ? undefined : count(cap))
  return [
    {
      name: 'Cost today',
      text: safeText(of(cost, plan?.cost_per_day)),
      href: '/costs?by=day',
    },
    { name: 'Tokens today', text: of(count(tokens), most(plan?.tokens_per_day)) },
    ...(plan?.runs_per_day === undefined
      ? []
      : [
          {
            name: 'Runs today',
            text: of(count(sumOf(await store.runCounts(workspace.id, today))), most(plan.runs_per_day)),
          },
        ]),
  ]
}

/** Notices that no channel took; nothing where there are none. */
async function describeNotices({ store, workspace, config }: ServerServices): Promise<readonly Fact[]> {
  if (!config.notify) return []
  const { total } = await store.notices({ workspaceId: workspace.id, state: 'dead' }, { skip: 0, take: 1 })
  return total === 0 ? [] : [{ name: 'Undelivered', text: `${count(total)} (svc notify list --dead)` }]
}

/** Each server process, and how the clock of this one compares with that of the store. */
async function describeServers(services: ServerServices): Promise<readonly Fact[]> {
  const { store, clock } = services
  const states = (await store.workers()).map((row) => toWorkerView(row, clock.now()).state)
  const silent = states.filter((state) => state === 'silent').length
  const ahead = clock.aheadMs()
  const drift =
    Math.abs(ahead) < CLOSE_MS ? 'right' : `${shortDuration(Math.abs(ahead))} ${ahead > 0 ? 'ahead' : 'behind'}`
  return [
    {
      name: 'Servers',
      text: `${count(states.length)}${silent === 0 ? '' : `, ${count(silent)} silent`}`,
      href: '/admin?tab=server',
    },
    { name: 'Clock', text: drift },
  ]
}

/** @param names of columns; of numbers where they end with `#` */
const toHeads = (...names: readonly string[]): List['heads'] =>
  names.map((name) => (name.endsWith('#') ? { text: name.slice(0, -1), align: 'right' } : { text: name }))

const count = (value: number): string => value.toLocaleString('en')
const words = (text: string): string => safeText(text.replaceAll('_', ' '))
const sumOf = (counts: readonly { readonly runs: number }[]): number => counts.reduce((sum, { runs }) => sum + runs, 0)

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
