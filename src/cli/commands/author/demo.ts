/**
 * Shows the product in one process: an in-memory server, a scripted run, one approval and the policy that required it; and a second
 * run for the same order, which the effect key stops.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../base/log.ts'
import { shortId } from '../../../base/text/short-text.ts'
import {
  answerTask,
  isTerminal,
  pendingTasks,
  stepOf,
  SvcClient,
  type StreamEvent,
  type UserTask,
} from '../../../client/index.ts'
import { readClientTask } from '../../../view/task/task-content.ts'
import { createLiveTimeline } from '../../../terminal/timeline.ts'
import { formatDuration } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { decideTask } from '../../runs/card/decide-task.ts'
import { isShownAtStart } from '../../runs/event-display.ts'
import { createResultFilter } from '../../runs/result-filter.ts'
import type { demoResult } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { answerScreen, messageScreen } from '../../shell/screen/list.ts'
import { createOperator, type OperatorClient } from '../../../client/operator.ts'
import { openProject } from '../../project/project.ts'
import { openProjectServer } from '../../project/open-server.ts'
import { explainTask } from '../../runs/why.ts'
import { FULL_TEMPLATE, planTemplate, writeTemplate } from '../../init/template.ts'
import { publishPath } from '../ship/publish.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

const AGENT = 'acme.refund-desk'
const INPUT = { order: 'A-1042', amount: 180 }

/** Longer than a demo takes. */
const KEY_SECONDS = 24 * 60 * 60

/** Pause between two lines at speed 1x, so that a reader can follow. */
const PACE_MS = 400

export async function demo(call: CommandContext<unknown>): Promise<number> {
  const { given, io, cwd } = call
  const keep = given.text('keep')
  const directory = keep === undefined ? await mkdtemp(join(tmpdir(), 'svc-demo-')) : resolve(cwd, keep)
  try {
    await writeTemplate(directory, await planTemplate(FULL_TEMPLATE, directory))
    const globals = { config: join(directory, 'svc.config.yaml') }
    const project = await openProject({ cwd: directory, globals, io })
    const server = await openProjectServer(
      { project, env: io.env, offline: false, log: silentLog },
      { host: '127.0.0.1', port: 0, consolePort: null },
    )
    const operator = createOperator((request) => server.operator.fetch(request), { close: () => server.close() })
    try {
      tellStep(call, '1/5 started a local server           ', `${server.url}  (in memory)`)
      const { answer } = await publishPath(call, { project, operator, path: directory, deploy: true, allowWiden: true })
      const client = new SvcClient({ apiKey: await makeKey(operator), baseUrl: server.url, fetch: io.fetch })
      const { agentId } = expectDefined(answer?.deployed, 'the publication deploys')
      return await play(call, client, agentId, keep)
    } finally {
      await operator.close()
    }
  } finally {
    if (keep === undefined) await rm(directory, { recursive: true, force: true })
  }
}

async function makeKey(operator: OperatorClient): Promise<string> {
  const trigger = await operator.call('POST /triggers', { body: { agent: AGENT, type: 'api', name: 'api' } })
  // The key acts for the person at the terminal, who decides.
  const body = { agent: AGENT, trigger: trigger.triggerId, oneCommand: true, expiresInSeconds: KEY_SECONDS }
  return (await operator.call('POST /keys', { body })).secret
}

async function play(
  call: CommandContext<StreamEvent | ValueOf<typeof demoResult>>,
  client: SvcClient,
  agentId: string,
  keep: string | undefined,
): Promise<number> {
  const { mode, out, signal } = call
  const screen = answerScreen(call)
  const pace = paceOf(call)
  tellStep(call, `2/5 running ${AGENT}         `, `order ${INPUT.order}, EUR ${INPUT.amount}`)
  const { runId } = await client.startRun(agentId, { input: INPUT }, { signal })
  const timeline = createLiveTimeline(screen, runId)
  const results = createResultFilter(runId)
  const show = async (event: StreamEvent): Promise<void> => {
    const step = stepOf(event)
    if (!step || isShownAtStart(step.type) !== (event.subject === 'engine.step.started')) return
    const lines = timeline.add(step)
    if (step.type === 'UserTaskReq') tellStep(call, '3/5 a policy stops the refund        ', 'a person decides')
    if (step.type === 'UserTaskRes')
      tellStep(call, '4/5 the run continues                ', describeAnswer(step.content?.outcome))
    lines.forEach(out.line)
    if (lines.length > 0) await pace()
  }
  for await (const event of client.streamRunEvents(runId, { signal })) {
    if (mode.json) await out.ndjson(event)
    else for (const each of results.add(event)) await show(each)
    if (!isPause(event, runId)) continue
    for (const task of await pendingTasks(client, runId, { signal })) await decide(call, client, runId, task)
  }
  const stopped = await playSecondRun(call, client, agentId)
  const run = await client.getRun(runId, { signal })
  const { status, output, totalTokensUsed, startedAt, finishedAt } = run
  if (mode.json) await out.ndjson({ type: 'result', runId, status, output, totalTokensUsed })
  else {
    for (const each of results.end()) await show(each)
    const took = formatDuration(Date.parse(finishedAt ?? startedAt) - Date.parse(startedAt))
    const measured = `${took} · ${totalTokensUsed} tokens (scripted)`
    const words = [status.toLowerCase(), JSON.stringify(output)]
    out.prose(screen.isTTY ? [...words, measured].join('  ') : words.join('\t'))
    if (!screen.isTTY) out.hint(`in ${measured}`)
    tellStep(call, '5/5 a second run, the same order     ', stopped)
  }
  out.hint(
    keep === undefined
      ? 'next:  svc init refund-demo --full && cd refund-demo && svc dev          the same project, to change and run'
      : `next:  cd ${keep} && svc dev`,
  )
  return isTerminal(status) && status === 'Completed' ? 0 : 1
}

/** @param title with the gap to the second column */
function tellStep(call: Pick<CommandContext, 'io' | 'mode' | 'out'>, title: string, text: string): void {
  call.out.hint(messageScreen(call).theme.strong(title.trimEnd()) + title.slice(title.trimEnd().length) + text)
}

/** What follows from the decision of the task. */
const describeAnswer = (outcome: unknown): string =>
  outcome === 'approved' ? 'exactly the approved call, once' : 'the refund is not made'

/** Asks once more for the refund that was just paid, and rejects it. @returns what stopped it */
async function playSecondRun(
  { mode, out, signal }: CommandContext<StreamEvent | ValueOf<typeof demoResult>>,
  client: SvcClient,
  agentId: string,
): Promise<string> {
  const { runId } = await client.startRun(agentId, { input: INPUT }, { signal })
  let why = 'the first one paid nothing'
  for await (const event of client.streamRunEvents(runId, { signal })) {
    if (mode.json) await out.ndjson(event)
    if (!isPause(event, runId)) continue
    for (const task of await pendingTasks(client, runId, { signal })) {
      const { effect } = readClientTask(task, AGENT)
      const earlier = effect?.previous?.['run_id']
      if (effect && typeof earlier === 'string')
        why = `stopped: run ${shortId(earlier)} has done ${effect.key}; it pays nothing`
      await answerTask(client, runId, task, { approved: false, comment: 'recorded decision of the demo' })
    }
  }
  return why
}

const isPause = ({ subject, data }: StreamEvent, runId: string): boolean =>
  subject === 'engine.run.paused' && data.runId === runId

/** Asks the person at the terminal; without one, approves the refund. */
async function decide(call: CommandContext, client: SvcClient, runId: string, pending: UserTask): Promise<void> {
  const { mode, out } = call
  const task = readClientTask(pending, AGENT)
  if (!mode.json) {
    out.prose(`  why        ${task.reason ?? task.title}`)
    explainTask(answerScreen(call), task).forEach(out.line)
  }
  const whyNow = 'The demo continues once you have decided: a approves, r rejects.'
  const context = { call, client, answering: client, agent: AGENT, whyNow }
  if (mode.interactive && !mode.json) {
    await decideTask(context, runId, task, call.signal)
    return
  }
  await answerTask(client, runId, pending, { approved: true, comment: 'recorded decision of the demo' })
}

function paceOf({ given, mode, signal }: CommandContext): () => Promise<void> {
  const slow = (given.text('speed') ?? (mode.interactive ? '1x' : '0')) === '1x'
  return async () => {
    if (slow) await sleep(PACE_MS, undefined, { signal })
  }
}
