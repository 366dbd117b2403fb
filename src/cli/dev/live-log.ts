/** What the runs of a project do, a line each time one moves. */
import { setTimeout as after } from 'node:timers/promises'
import type { RunView } from '../../spec/operator.ts'
import { createTheme, styleOfStatus } from '../../terminal/theme.ts'
import { safeText } from '../../terminal/text.ts'
import { shortId, timeOfDay } from '../../terminal/time.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../project/operator.ts'

/** How often runs are looked at; each look is one query. */
const LOOK_EVERY_MS = 500

/** Runs that are looked at: the newest. */
const NEWEST = '50'

/** Tells what happens to runs from now on until the signal fires. */
export async function logRuns(
  { out, io, mode }: CommandContext,
  operator: OperatorClient,
  signal: AbortSignal,
): Promise<void> {
  const theme = createTheme(mode.color.stderr)
  const known = new Map<string, string>()
  const look = async (tell: boolean): Promise<void> => {
    const { items } = await operator.call('GET /runs', { query: { take: NEWEST } })
    for (const run of items.toReversed()) {
      const state = `${run.status} ${run.waitingOn ?? ''}`
      if (known.get(run.runId) === state) continue
      known.set(run.runId, state)
      if (tell) out.hint(`${theme.dim(timeOfDay(io.clock.now()))}  ${lineOf(run, styleOfStatus(theme, run.status))}`)
    }
  }
  try {
    await look(false)
    for (;;) {
      await after(LOOK_EVERY_MS, undefined, { signal })
      await look(true)
    }
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function lineOf({ runId, agent, versionLabel, status, waitingOn }: RunView, style: (text: string) => string): string {
  const parts = [`run ${shortId(runId)}`, safeText(`${agent}@${versionLabel}`), style(safeText(status))]
  return [...parts, ...(waitingOn === undefined ? [] : [safeText(waitingOn)])].join('  ')
}
