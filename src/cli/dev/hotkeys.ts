/** Keys of `svc dev` on a terminal. Source: docs/design/command-line.md#serving */
import { isJsonObject } from '../../base/json/json.ts'
import { isFailure } from '../../base/failure.ts'
import { readInboxItem } from '../../view/task/task-content.ts'
import { shortId } from '../../base/text/short-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { buildBundle } from '../release/build.ts'
import type { CommandContext } from '../shell/command.ts'
import { decideTask } from '../runs/card/decide-task.ts'
import { printFindings } from '../release/findings.ts'
import { Interrupted, unlessLeft } from '../shell/io.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { Project } from '../project/project.ts'
import type { InboxItem } from '../../operations/tasks.ts'
import { openConsole } from './open-console.ts'
import type { StatusArea } from './status-area.ts'
import { RemoteError } from '../../client/remote-error.ts'
import { operatorClient } from '../../client/api-client.ts'

const HELP = '  r rerun the last run · a answer the next task · o console · l lint · h help · q quit'

export interface HotkeyContext {
  readonly call: CommandContext
  readonly project: Project
  /** Absolute path of the served documents. */
  readonly path: string
  readonly operator: OperatorClient
  /** Null where nothing is redrawn. */
  readonly area: StatusArea | null
}

/** Handles keys until `q`, Ctrl-C or the signal. */
export async function handleHotkeys(context: HotkeyContext, signal: AbortSignal): Promise<void> {
  const { call } = context
  const actions: Readonly<Record<string, () => Promise<void> | void>> = {
    r: () => rerun(context),
    a: () => answerNext(context, signal),
    o: () => openConsole(call, context.operator),
    l: () => lintNow(context),
    h: () => call.out.message(HELP),
  }
  if (!context.area) call.out.hint(call.mode.accessible ? `${HELP}; type a letter and Enter` : HELP)
  const release = call.io.prompts.holdKeys?.()
  try {
    for (;;) {
      // A run is started; the other keys only show something, or open the card that decides.
      const key = await call.io.prompts.key('', [...Object.keys(actions), 'q'], signal, { deciding: ['r'] })
      if (key === 'q') return
      try {
        await actions[key]?.()
      } catch (error) {
        if (!isFailure(error) && !(error instanceof RemoteError)) throw error
        call.out.message(error.message)
      }
    }
  } catch (error) {
    // In raw mode Ctrl-C arrives as a key; otherwise the signal has fired.
    if (!(error instanceof Interrupted) && !signal.aborted) throw error
  } finally {
    release?.()
  }
}

/** Runs the deployed version with the input of the last run. */
async function rerun({ call, operator }: HotkeyContext): Promise<void> {
  const { items } = await operator.call('GET /runs', { query: { take: '50' } })
  const last = items.find(({ parentRunId }) => parentRunId === null)
  if (!last) return call.out.message('There is no run yet.')
  const { session } = await operator.call('GET /v1/runs/:id/conversation', { id: last.runId })
  const input = isJsonObject(session.input) ? session.input : {}
  const { runId } = await operator.call('POST /runs', { body: { agent: last.agent, input } })
  call.out.message(`run ${shortId(runId)} started with the input of ${shortId(last.runId)}`)
}

async function answerNext(context: HotkeyContext, signal: AbortSignal): Promise<void> {
  const { call, operator, area } = context
  const { items } = await operator.call('GET /tasks', { query: {} })
  // Skips tasks that this person has voted on or may not decide.
  const item = items.find(({ people }) => (people?.standing ?? 'may_answer') === 'may_answer')
  if (!item)
    return call.out.message(
      items.length === 0
        ? 'Nothing waits for anybody.'
        : `Nothing waits for you; ${items.length} for others: svc inbox`,
    )
  const answer = (): Promise<void> => answerItem(context, item, signal)
  await (area ? area.without(answer) : answer())
}

async function answerItem(
  { call, operator, area }: HotkeyContext,
  item: InboxItem,
  signal: AbortSignal,
): Promise<void> {
  if (item.kind === 'reply') {
    call.out.message(safeText(item.why))
    const text = (await unlessLeft(call.io.prompts.text('Reply (empty: later):', signal)))?.trim() ?? ''
    if (text !== '') await operator.call('POST /runs/:id/messages', { id: item.runId, body: { text } })
    return
  }
  const client = operatorClient(operator, call.io.fetch)
  const prompt = { call, client, answering: client, operator, agent: item.agent }
  const until = area ? AbortSignal.any([signal, area.whenDecided(item.userTaskId)]) : signal
  await decideTask(prompt, item.runId, readInboxItem(item), until)
}

async function lintNow({ call, project, path, operator }: HotkeyContext): Promise<void> {
  const { findings, workspace } = await buildBundle({ project, path, operator })
  printFindings(call, findings, workspace)
  const [errors, warnings] = (['error', 'warning'] as const).map(
    (severity) => findings.filter((each) => each.severity === severity).length,
  )
  call.out.message(`lint: errors ${errors}, warnings ${warnings}`)
}
