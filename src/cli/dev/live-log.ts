/** Prints a line whenever a run changes its status. */
import { setTimeout as after } from 'node:timers/promises'
import type { RunView } from '../../spec/operator.ts'
import { createTheme, styleOfStatus } from '../../terminal/theme.ts'
import { safeText } from '../../base/escape-text.ts'
import { shortId } from '../../base/short-text.ts'
import { timeOfDay } from '../../terminal/time.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../project/operator.ts'

/** Time between two queries. */
const POLL_INTERVAL_MS = 500

/** Only the newest runs are watched. */
const MAX_RUNS = '50'

/** Logs changes from now on until the signal fires. */
export async function logRuns(
  { out, io, mode }: CommandContext,
  operator: OperatorClient,
  signal: AbortSignal,
): Promise<void> {
  const theme = createTheme(mode.color.stderr)
  const known = new Map<string, string>()
  const pollRuns = async (shouldPrint: boolean): Promise<void> => {
    const { items } = await operator.call('GET /runs', { query: { take: MAX_RUNS } })
    for (const run of items.toReversed()) {
      const state = `${run.status} ${run.waitingOn ?? ''}`
      if (known.get(run.runId) === state) continue
      known.set(run.runId, state)
      if (shouldPrint)
        out.hint(`${theme.dim(timeOfDay(io.clock.now()))}  ${formatRun(run, styleOfStatus(theme, run.status))}`)
    }
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

function formatRun(
  { runId, agent, versionLabel, status, waitingOn }: RunView,
  style: (text: string) => string,
): string {
  const parts = [`run ${shortId(runId)}`, safeText(`${agent}@${versionLabel}`), style(safeText(status))]
  return [...parts, ...(waitingOn === undefined ? [] : [safeText(waitingOn)])].join('  ')
}
