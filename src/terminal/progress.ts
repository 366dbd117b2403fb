import { afterTimeout, type DelayedDraw, type Screen } from './screen.ts'
import { safeText } from './text.ts'

/** What takes less time than this is not worth a word. */
const QUIET_MS = 200

export interface PhaseProgress {
  /** What is being done now. */
  phase(text: string): void
  /** Takes the spinner away. Nothing is drawn afterwards. */
  stop(): void
}

interface Spinner {
  text: string
  stop(): unknown
}

/**
 * Tells what goes on: nothing for the first 200 ms, then a spinner on a terminal, else one line per phase.
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
  let awake = false
  let cancel: (() => void) | undefined

  const wake = async (): Promise<void> => {
    awake = true
    if (!screen.isTTY || stream === undefined) return screen.lines(current!)
    const { default: ora } = await import('ora')
    // Stdin is not ora's to read: an approval may be waiting for a key.
    if (!stopped) spinner = ora({ text: current!, stream, isEnabled: true, discardStdin: false }).start()
  }
  return {
    phase(text) {
      if (stopped) return
      current = safeText(text)
      if (!awake) cancel ??= later(() => void wake(), QUIET_MS)
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
