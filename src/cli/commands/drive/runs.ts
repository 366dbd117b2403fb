import { describeHold } from '../../../spec/run/hold.ts'
import { resolve } from 'node:path'
import { isWaiting, waitForRun } from '../../../client/index.ts'
import { fail } from '../../../base/failure.ts'
import type { OperatorList, ValueOf } from '../../../operations/schema.ts'
import type { OperatorRoutes, OperatorAnswer } from '../../../operations/operations.ts'
import type { RunOrder, RunView } from '../../../operations/runs.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { drawTimeline } from '../../../terminal/timeline.ts'
import { actOnEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { toHtml, toMarkdown } from '../../reports/conversation.ts'
import { readWhole } from '../../../client/whole-conversation.ts'
import { followToOutcome } from './follow-run.ts'
import { NO_RUNS, runColumns, runKeyOf, treeColumns, watchRuns } from './run-list.ts'
import { offerUndo, readUndoPlan } from '../../runs/offer-undo.ts'
import { readAwaitedSignals } from '../../runs/awaited-signals.ts'
import { timesFor } from '../../runs/held.ts'
import { readHolders, readRunStatuses, runStatusFields } from '../../runs/run-status.ts'
import { readFollowOptions } from '../../runs/follow-options.ts'
import { withKeyNames } from '../../runs/key-names.ts'
import { arrangeRunTree } from '../../runs/run-tree.ts'
import { answerScreen, printList, printLong, printOne, printTable } from '../../shell/screen/list.ts'
import { durationMs, wholeNumber } from '../../shell/numbers.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator, withOperatorOf } from '../../project/server/operator.ts'
import { exitOfStatus, type FollowAnswer } from '../../runs/outcome.ts'
import { agentOption, momentOptions } from '../../project/request-command.ts'
import { openProject, type Project } from '../../project/project.ts'
import { runIdOf, runIdsOf } from '../../project/reference.ts'
import { withTarget, withTargetOf, type ServerTarget } from '../../project/server/target.ts'
import { watchList } from '../../shell/screen/watch-list.ts'
import { writeUserFile } from '../../../base/files/write-file.ts'
import type { cancelledRuns } from '../../answers/drive.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** Options of `svc runs list` that are passed to the server unchanged. */
const SEARCHES = ['search', 'tool', 'effect', 'version', 'trigger', 'person', 'approver', 'label'] as const

export async function runsList(call: CommandContext<OperatorAnswer<'GET /runs'> | RunView>): Promise<void> {
  const { given, io } = call
  const [session, sort, minCost] = ['session', 'sort', 'min-cost'].map((name) => given.text(name))
  const minDuration = durationMs(given.text('min-duration'), 'min-duration')
  const minTokens = wholeNumber(given.text('min-tokens'), 'min-tokens')
  const status = readRunStatuses(given.list('status')).join(',')
  const limit = wholeNumber(given.text('limit'), 'limit', 1) ?? 20
  const project = await openProject(call)
  const read = (): Promise<OperatorList<RunView>> =>
    withOperatorOf(project, call, async (operator) =>
      operator.call('GET /runs', {
        query: {
          take: String(limit),
          ...(await agentOption(call, operator)),
          ...(status !== '' && { status }),
          ...(given.flag('waiting') && { waiting: 'true' }),
          ...(session !== undefined && { session }),
          ...Object.fromEntries(
            SEARCHES.flatMap((name) => (given.text(name) === undefined ? [] : [[name, given.text(name)]])),
          ),
          ...momentOptions(call, 'since', 'until'),
          ...(sort !== undefined && { sort: sort as RunOrder }),
          ...(minDuration !== undefined && { minDuration: String(minDuration) }),
          ...(minTokens !== undefined && { minTokens: String(minTokens) }),
          ...(minCost !== undefined && { minCost }),
        },
      }),
    )
  if (!given.flag('watch')) {
    const list = await read()
    // A tree would bring another order.
    if (call.mode.json || !io.stdout.isTTY || sort !== undefined)
      return await printList(call, list, runColumns(io.clock.now()), NO_RUNS)
    return printTable(call, arrangeRunTree(list.items), treeColumns(io.clock.now()), NO_RUNS)
  }
  if (call.mode.interactive && !call.mode.json && !call.mode.accessible && io.stdout.isTTY)
    return void (await watchRuns(call, project, async () => (await read()).items))
  await watchList(call, {
    loadItems: async () => (await read()).items,
    keyOf: runKeyOf,
    columns: runColumns,
    toJson: (run) => run,
    emptyMessage: NO_RUNS,
    soundsBell: false,
  })
}

export async function runsGet(call: CommandContext<unknown>): Promise<number> {
  const { given, signal } = call
  return await withTarget(call, async (target) => {
    const runId = await runIdOf(given.required(0), target.operator)
    const until = given.text('wait') as 'pause' | 'terminal' | undefined
    const status = until
      ? await waitForRun(target.client, runId, { until, signal })
      : await target.client.getRun(runId, { signal })
    const plan = call.mode.json ? undefined : await readUndoPlan(target.operator, status)
    const signals = call.mode.json ? [] : await readAwaitedSignals(target.client, status)
    const showTime = timesFor(call.io.stdout, call.io.clock)
    const holders = await readHolders(target.operator, status)
    const told =
      holders === undefined ? status : { ...status, heldBy: { pauses: holders.pauses, outages: holders.outages } }
    await printOne(call, told, runStatusFields(status, { plan, holders, signals, showTime }))
    offerUndo(call, status, plan)
    return given.flag('exit-status') ? exitOfStatus(status.status) : 0
  })
}

export async function runsWatch(call: CommandContext<FollowAnswer>): Promise<number> {
  const following = readFollowOptions(call)
  const project = await openProject(call)
  return await withTargetOf(project, call, async (target) => {
    const runId = await runToWatch(call, project, target)
    if (runId === undefined) return 0
    const { status, hold } = await target.client.getRun(runId, { signal: call.signal })
    const held = hold ? `; held ${describeHold(hold, timesFor(call.io.stderr, call.io.clock))}` : ''
    const why = isWaiting(status) ? '; it waits for somebody' : held
    call.out.hint(`attached to ${shortId(runId)} (${status})${why}`)
    const agent = await agentOfRun(target, runId)
    return await followToOutcome(call, { ...target, agent }, { ...following, runId })
  })
}

/** The named run, or the active run that a person selects; undefined where the person leaves. */
async function runToWatch(
  call: CommandContext,
  project: Project,
  { operator }: ServerTarget,
): Promise<string | undefined> {
  const { given, io, mode, signal } = call
  const named = given.argument(0)
  if (named !== undefined) return await runIdOf(named, operator)
  if (!mode.interactive || !operator) throw usageFailure('Which run?', 'svc runs watch RUN, for example @last')
  const read = async () => (await operator.call('GET /runs', { query: { take: '50', status: UNDER_WAY } })).items
  if (!mode.accessible && io.stdout.isTTY) {
    const choice = {
      isChoice: true,
      title: (count: number) => `svc runs watch · ${count} under way`,
      emptyMessage: 'No run is under way.',
    }
    return (await watchRuns(call, project, read, choice))?.runId
  }
  for (;;) {
    const items = await read()
    if (items.length === 0) throw fail('not_found', { what: 'run under way' })
    const now = io.clock.now()
    const choices = items.map((run) => ({
      value: run.runId,
      name: safeText(
        runColumns(now)
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

export async function runsCancel(call: CommandContext<ValueOf<typeof cancelledRuns>>): Promise<number> {
  const { given, mode, out } = call
  const reason = given.text('reason')
  return await withOperator(call, async (operator) => {
    const ids = await runIdsOf(given.rest(0), operator)
    return await actOnEach(
      call,
      ids,
      async (id) => {
        const open = mode.json ? [] : await openTasks(operator, id)
        const item = await operator.call('POST /runs/:id/cancel', { id, body: reason === undefined ? {} : { reason } })
        if (!mode.json) out.line(await describeCancelled(operator, item, open))
        return item
      },
      (runId, error) => ({ runId, error }),
    )
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
  await withTarget(call, async (target) => {
    const runId = await runIdOf(given.required(0), target.operator)
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
