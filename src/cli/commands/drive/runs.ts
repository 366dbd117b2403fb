import { describeHold } from '../../../spec/hold.ts'
import { resolve } from 'node:path'
import { isWaiting, waitForRun } from '../../../client/index.ts'
import { toIsoText } from '../../../base/clock.ts'
import { fail } from '../../../base/failure.ts'
import type { Conversation } from '../../../spec/api.ts'
import type { OperatorList, OperatorRoutes } from '../../../spec/operator/routes.ts'
import type { RunView } from '../../../spec/operator/runs.ts'
import { safeText } from '../../../base/escape-text.ts'
import { truncateText } from '../../../terminal/text.ts'
import { styleOfStatus } from '../../../terminal/theme.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { shortDuration, shortId, withoutNamespace } from '../../../base/short-text.ts'
import { drawTimeline } from '../../../terminal/timeline.ts'
import type { CommandContext } from '../../shell/command.ts'
import { toHtml, toMarkdown } from '../../conversation/page.ts'
import { readWhole } from '../../conversation/whole.ts'
import { runListScreen } from '../../runs/list-screen.ts'
import { followToOutcome } from './follow-run.ts'
import { offerUndo, readUndoPlan } from '../../runs/offer-undo.ts'
import { readAwaitedSignals } from '../../runs/awaited-signals.ts'
import { timesFor } from '../../runs/held.ts'
import { readRunStatuses, runStatusFields } from '../../runs/run-status.ts'
import { readFollowOptions } from '../../runs/follow-options.ts'
import { withKeyNames } from '../../runs/key-names.ts'
import { arrangeRunTree, type ListedRun } from '../../runs/run-tree.ts'
import { answerScreen, printList, printLong, printOne, printTable } from '../../shell/screen/list.ts'
import { parseMoment, wholeNumber } from '../../shell/numbers.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import { exitOfStatus, type FollowAnswer } from '../../runs/outcome.ts'
import { openProject, type Project } from '../../project/project.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import { withTarget, type ServerTarget } from '../../project/server/target.ts'
import { watchList } from '../../shell/screen/watch-list.ts'
import { writeUserFile } from '../../files/write-file.ts'
import type { cancelledRuns, runsAnswer, runView } from '../../answers/drive.ts'
import type { AnswerOf } from '../../answers/schema.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

/** Options of `svc runs list` that are passed to the server unchanged. */
const SEARCHES = ['search', 'tool', 'effect', 'version', 'trigger', 'person', 'approver', 'label'] as const

export async function runsList(call: CommandContext<AnswerOf<typeof runsAnswer | typeof runView>>): Promise<void> {
  const { given, io } = call
  const [agent, since, session] = ['agent', 'since', 'session'].map((name) => given.text(name))
  const status = readRunStatuses(given.list('status')).join(',')
  const limit = wholeNumber(given.text('limit'), 'limit', 1) ?? 20
  const project = await openProject(call)
  const read = (): Promise<OperatorList<RunView>> =>
    withOperator(project, call, async (operator) =>
      operator.call('GET /runs', {
        query: {
          take: String(limit),
          ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).agentId }),
          ...(status !== '' && { status }),
          ...(given.flag('waiting') && { waiting: 'true' }),
          ...(session !== undefined && { session }),
          ...Object.fromEntries(
            SEARCHES.flatMap((name) => (given.text(name) === undefined ? [] : [[name, given.text(name)]])),
          ),
          ...(since !== undefined && { since: toIsoText(parseMoment(since, io.clock.now())) }),
        },
      }),
    )
  if (!given.flag('watch')) {
    const list = await read()
    if (call.mode.json || !io.stdout.isTTY) return await printList(call, list, columns(io.clock.now()), NOTHING)
    return printTable(call, arrangeRunTree(list.items), treeColumns(io.clock.now()), NOTHING)
  }
  if (call.mode.interactive && !call.mode.json && !call.mode.accessible && io.stdout.isTTY)
    return await watchRuns(call, project, async () => (await read()).items)
  await watchList(call, {
    loadItems: async () => (await read()).items,
    keyOf,
    columns,
    toJson: (run) => run,
    emptyMessage: NOTHING,
    soundsBell: false,
  })
}

const keyOf = ({ runId, status, waitingOn }: RunView): string => `${runId} ${status} ${waitingOn ?? ''}`

/** The runs as a full screen, with the conversation of the chosen one beside them. */
async function watchRuns(
  call: CommandContext,
  project: Project,
  loadItems: () => Promise<readonly RunView[]>,
): Promise<void> {
  /** The conversation of a run changes only together with its status, its tokens or its open task. */
  let read: { readonly key: string; readonly conversation: Conversation } | undefined
  await runListScreen<ListedRun>(call, {
    title: (count) => `svc runs · ${count} newest`,
    note: safeText(project.workspace),
    loadItems: async () => arrangeRunTree(await loadItems()),
    idOf: ({ run }) => run.runId,
    keyOf: ({ run }) => keyOf(run),
    columns: treeColumns,
    emptyMessage: NOTHING,
    soundsBell: false,
    drawDetail: async ({ run }, canvas) => {
      const key = `${keyOf(run)} ${run.totalTokensUsed}`
      if (read?.key !== key)
        read = {
          key,
          conversation: await withOperator(project, call, async (operator) => {
            const found = await operator.call('GET /v1/runs/:id/conversation', { id: run.runId, query: {} })
            return { ...found, items: await withKeyNames(found.items, operator) }
          }),
        }
      const { items, runs } = read.conversation
      const head = `${run.agent}@${run.versionLabel}`
      return [
        canvas.theme.name(truncateText(safeText(head), canvas.width)),
        styleOfStatus(canvas.theme, run.status)(truncateText(safeText(describeState(run)), canvas.width)),
        '',
        ...drawTimeline(canvas, items, runs),
      ]
    },
  })
}

const describeState = ({ status, waitingOn, hold, runId }: RunView): string =>
  [`run ${shortId(runId)}`, status, waitingOn, hold && `held: ${hold.reason}`].filter(Boolean).join(' · ')

const NOTHING = 'No runs. svc run starts one.'

const columns = (now: number): readonly TableColumn<RunView>[] => [
  { title: 'RUN', cell: ({ runId }) => shortId(runId), plain: ({ runId }) => runId },
  { title: 'AGENT', cell: ({ agent }) => agent, short: ({ agent }) => withoutNamespace(agent) },
  { title: 'STATUS', cell: ({ status }) => status, style: (theme, { status }) => styleOfStatus(theme, status) },
  { ...timeColumn('STARTED', ({ startedAt }) => startedAt, now), dropOrder: 2 },
  { title: 'TOOK', dropOrder: 3, cell: (run) => took(run, now), plain: ({ finishedAt }) => finishedAt ?? '' },
  { title: 'TOKENS', dropOrder: 4, cell: ({ totalTokensUsed }) => String(totalTokensUsed), align: 'right' },
  {
    title: '',
    dropOrder: 1,
    isFlexible: true,
    style: (theme) => theme.waiting,
    cell: ({ waitingOn, hold }) => (hold ? `held: ${hold.reason}` : (waitingOn ?? '')),
    short: ({ waitingOn, hold }) => (hold ? `held: ${hold.reason}` : (waitingOn ?? '').replace(/: [^.\s]+\./, ': ')),
  },
]

/** Columns of a tree of runs: sub-agents are indented below the agent that asked them. */
const treeColumns = (now: number): readonly TableColumn<ListedRun>[] =>
  columns(now).map(({ title, cell, short, align, style, dropOrder, isFlexible }) => ({
    title,
    ...(dropOrder !== undefined && { dropOrder }),
    ...(isFlexible !== undefined && { isFlexible }),
    cell: ({ run, indent }) => indentedIf(title === 'AGENT', indent, cell(run)),
    ...(short && { short: ({ run, indent }) => indentedIf(title === 'AGENT', indent, short(run)) }),
    ...(align && { align }),
    ...(style && { style: (theme, { run }) => style(theme, run) }),
  }))

const indentedIf = (isIndented: boolean, indent: number, text: string): string =>
  isIndented ? `${'  '.repeat(indent)}${text}` : text

const took = ({ startedAt, finishedAt }: RunView, now: number): string =>
  finishedAt === null
    ? `${shortDuration(now - Date.parse(startedAt))}+`
    : shortDuration(Date.parse(finishedAt) - Date.parse(startedAt))

export async function runsGet(call: CommandContext<unknown>): Promise<number> {
  const { given, signal } = call
  return await withTarget(call, await openProject(call), async (target) => {
    const runId = await runIdOf(given.argument(0)!, target.operator)
    const until = given.text('wait') as 'pause' | 'terminal' | undefined
    const status = until
      ? await waitForRun(target.client, runId, { until, signal })
      : await target.client.getRun(runId, { signal })
    const plan = call.mode.json ? undefined : await readUndoPlan(target.operator, status)
    const signals = call.mode.json ? [] : await readAwaitedSignals(target.client, status)
    const showTime = timesFor(call.io.stdout, call.io.clock)
    await printOne(call, status, runStatusFields(status, { plan, signals, showTime }))
    offerUndo(call, status, plan)
    return given.flag('exit-status') ? exitOfStatus(status.status) : 0
  })
}

export async function runsWatch(call: CommandContext<FollowAnswer>): Promise<number> {
  const following = readFollowOptions(call)
  return await withTarget(call, await openProject(call), async (target) => {
    const runId = await runToWatch(call, target)
    const { status, hold } = await target.client.getRun(runId, { signal: call.signal })
    const why = isWaiting(status)
      ? '; it waits for somebody'
      : hold
        ? `; held ${describeHold(hold, timesFor(call.io.stderr, call.io.clock))}`
        : ''
    call.out.hint(`attached to ${shortId(runId)} (${status})${why}`)
    const agent = await agentOfRun(target, runId)
    return await followToOutcome(call, { ...target, agent }, { ...following, runId })
  })
}

/** The named run, or the active run that a person selects. */
async function runToWatch(call: CommandContext, { operator }: ServerTarget): Promise<string> {
  const { given, io, mode, signal } = call
  const named = given.argument(0)
  if (named !== undefined) return await runIdOf(named, operator)
  if (!mode.interactive || !operator) throw usageFailure('Which run?', 'svc runs watch RUN, for example @last')
  for (;;) {
    const { items } = await operator.call('GET /runs', { query: { take: '50', status: UNDER_WAY } })
    if (items.length === 0) throw fail('not_found', { what: 'run under way' })
    const now = io.clock.now()
    const choices = items.map((run) => ({
      value: run.runId,
      name: safeText(
        columns(now)
          .map(({ cell }) => cell(run))
          .join('  ')
          .trim(),
      ),
    }))
    const chosen = await io.prompts.select('watch:', [...choices, { value: '', name: 'look again' }], signal)
    if (chosen !== '') return chosen
  }
}

const UNDER_WAY = 'Running,WaitingForHITL,WaitingForAITL,WaitingForResponse'

export async function runsCancel(call: CommandContext<AnswerOf<typeof cancelledRuns>>): Promise<void> {
  const { given, mode, out } = call
  const reason = given.text('reason')
  await withOperator(await openProject(call), call, async (operator) => {
    const ids: string[] = []
    for (const text of given.rest(0)) ids.push(await runIdOf(text, operator))
    const items = []
    for (const id of ids) {
      const open = mode.json ? [] : await openTasks(operator, id)
      const item = await operator.call('POST /runs/:id/cancel', { id, body: reason === undefined ? {} : { reason } })
      items.push(item)
      if (!mode.json) out.line(await describeCancelled(operator, item, open))
    }
    if (mode.json) await out.json({ items, total: items.length })
  })
}

/** Tasks of the run and its sub-agents that wait. */
async function openTasks(operator: OperatorClient, id: string): Promise<readonly string[]> {
  const { pending = [] } = await operator.call('GET /v1/runs/:id', { id })
  return pending.flatMap(({ userTaskId }) => userTaskId ?? [])
}

/** `cancelled 77d0c4 (was WaitingForHITL); task 51aa02 closed` */
async function describeCancelled(
  operator: OperatorClient,
  { runId, before, after }: OperatorRoutes['POST /runs/:id/cancel']['answer'],
  open: readonly string[],
): Promise<string> {
  if (before === after) return `${shortId(runId)} is ${after} already`
  // Somebody may have decided one between the two requests.
  const tasks = await Promise.all(open.map((id) => operator.call('GET /tasks/:id', { id })))
  const closed = tasks.filter(({ status }) => status === 'cancelled').map(({ userTaskId }) => shortId(userTaskId))
  const told = closed.length === 0 ? '' : `; ${closed.length === 1 ? 'task' : 'tasks'} ${closed.join(', ')} closed`
  return `cancelled ${shortId(runId)} (was ${before})${told}`
}

export async function runsConversation(call: CommandContext<unknown>): Promise<void> {
  const { given, mode, out, signal } = call
  const types = given.list('type')
  const since = wholeNumber(given.text('since'), 'since') ?? 0
  await withTarget(call, await openProject(call), async (target) => {
    const runId = await runIdOf(given.argument(0)!, target.operator)
    const stepContent = (given.text('step-content') ?? 'full') as 'full' | 'slim'
    const whole = await readWhole((cursor) => {
      const query = { stepContent, ...(cursor !== undefined && { cursor }) }
      return target.client.getConversation(runId, query, { signal })
    })
    if (whole.nextCursor) out.message('the conversation is longer than can be shown at once; its end is left out')
    const items = whole.items.filter(
      ({ type, ordinal }) => ordinal > since && (types.length === 0 || types.includes(type)),
    )
    const conversation = { ...whole, items }
    if (mode.json) return await out.json(conversation)
    const file = given.text('html')
    if (file !== undefined) {
      await writeUserFile(resolve(call.cwd, file), toHtml(conversation))
      return out.hint(`wrote ${file}`)
    }
    if (given.flag('markdown')) return await printLong(call, toMarkdown(conversation))
    const named = await withKeyNames(items, target.operator)
    await printLong(call, drawTimeline(answerScreen(call), named, whole.runs))
    if (whole.session.erasedAt !== undefined) out.message(`its content was erased on ${whole.session.erasedAt}`)
    else if (whole.session.input === null && !target.operator)
      out.message('the timeline of this trigger is hidden from API keys; svc inbox and the operator see it')
  })
}

/** `namespace.name@version` of a run. */
async function agentOfRun({ client }: ServerTarget, runId: string): Promise<string> {
  const run = (await client.getConversation(runId)).runs.find(({ id }) => id === runId)
  return run ? `${run.agentName}@${run.versionLabel}` : runId
}
