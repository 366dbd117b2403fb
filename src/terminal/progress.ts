import { afterTimeout, type DelayedDraw, type Screen } from './screen.ts'
import { safeText } from '../base/escape-text.ts'

/** Shorter work shows no progress. */
const DELAY_MS = 200

export interface PhaseProgress {
  /** Starts a phase. */
  phase(text: string): void
  /** Removes the spinner. Nothing is drawn afterwards. */
  stop(): void
}

interface Spinner {
  text: string
  stop(): unknown
}

/**
 * Shows progress: nothing for the first 200 ms, then a spinner on a terminal, else one line per phase.
 * @param stream the terminal that `screen` draws on; without it lines are written there too
 */
export function createProgress(
  screen: Screen,
  stream?: NodeJS.WritableStream,
  later: DelayedDraw = afterTimeout,
): PhaseProgress {
  let current: string | undefined
  let spinner: Spinner | undefined
  let stopped = false
  let isVisible = false
  let cancel: (() => void) | undefined

  const show = async (): Promise<void> => {
    isVisible = true
    if (!screen.isTTY || stream === undefined) return screen.lines(current!)
    const { default: ora } = await import('ora')
    // ora must not read stdin: an approval may be waiting for a key.
    if (!stopped) spinner = ora({ text: current!, stream, isEnabled: true, discardStdin: false }).start()
  }
  return {
    phase(text) {
      if (stopped) return
      current = safeText(text)
      if (!isVisible) cancel ??= later(() => void show(), DELAY_MS)
      else if (spinner) spinner.text = current
      else if (!screen.isTTY || stream === undefined) screen.lines(current)
    },
    stop() {
      stopped = true
      cancel?.()
      spinner?.stop()
    },
  }
}
