/** Prints a line whenever a run changes its status. */
import { setTimeout as after } from 'node:timers/promises'
import type { Instant } from '../../base/clock.ts'
import type { RunView } from '../../operations/runs.ts'
import { createTheme, styleOfStatus, type Theme } from '../../terminal/theme.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { truncateText } from '../../terminal/text.ts'
import { widthOf } from '../../terminal/width.ts'
import { shortId } from '../../base/text/short-text.ts'
import { timeOfDay } from '../../terminal/time.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../../client/operator.ts'
import type { StatusArea } from './status-area.ts'

/** Time between two queries. */
const POLL_INTERVAL_MS = 500

/** Only the newest runs are watched. */
const MAX_RUNS = '50'

/** Logs changes from now on until the signal fires. */
export async function logRuns(
  { out, io, mode }: CommandContext,
  operator: OperatorClient,
  signal: AbortSignal,
  area: StatusArea | null = null,
): Promise<void> {
  const theme = createTheme(mode.color.stderr)
  const known = new Map<string, string>()
  const pollRuns = async (shouldPrint: boolean): Promise<void> => {
    const { items } = await operator.call('GET /runs', { query: { take: MAX_RUNS } })
    for (const run of items.toReversed()) {
      const state = `${run.status} ${run.waitingOn ?? ''}`
      if (known.get(run.runId) === state) continue
      known.set(run.runId, state)
      if (shouldPrint) out.hint(formatRun(run, theme, io.clock.now(), io.stderr.isTTY ? io.stderr.width : Infinity))
      if (shouldPrint && run.status === 'Failed') area?.setProblem(`run ${shortId(run.runId)} of ${run.agent} failed`)
    }
    await area?.refresh(operator, items)
  }
  try {
    await pollRuns(false)
    for (;;) {
      await after(POLL_INTERVAL_MS, undefined, { signal })
      await pollRuns(true)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** One line; leaves out the version, then the agent, where there is no room. */
function formatRun(
  { runId, agent, versionLabel, status, waitingOn }: RunView,
  theme: Theme,
  now: Instant,
  width: number,
): string {
  const state = [safeText(status), ...(waitingOn === undefined ? [] : [safeText(waitingOn)])].join('  ')
  const heads = [`${agent}@${versionLabel}`, agent, ''].map((name) =>
    [timeOfDay(now), `run ${shortId(runId)}`, ...(name === '' ? [] : [safeText(name)])].join('  '),
  )
  const [head = heads.at(-1) ?? ''] = heads.filter((each) => widthOf(each) + 2 + widthOf(state) <= width)
  const shown = truncateText(state, Math.max(10, width - widthOf(head) - 2))
  return `${theme.dim(head.slice(0, TIME))}${head.slice(TIME)}  ${styleOfStatus(theme, status)(shown)}`
}

/** Characters of the time. */
const TIME = 8
