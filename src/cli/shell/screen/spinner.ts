/** Shows what a command waits for. Source: docs/design/command-line.md#asking */
import { safeText } from '../../../base/text/escape-text.ts'
import type { CommandContext } from '../command.ts'
import { messageScreen } from './list.ts'

/** Shorter work shows nothing. */
const DELAY_MS = 200

/** Shows the text while the work goes on: a spinner on a terminal, whose text the work may change, else one line. */
export async function withSpinner<T>(
  call: Pick<CommandContext, 'io' | 'mode'>,
  text: string,
  work: (tell: (text: string) => void) => Promise<T>,
): Promise<T> {
  // With --json nothing but an error goes to stderr.
  if (call.mode.quiet || call.mode.json) return await work(() => {})
  let isOver = false
  let spinner: { text: string; stop(): unknown } | undefined
  let latest = text
  const show = async (): Promise<void> => {
    if (!call.io.stderr.isTTY || call.mode.accessible) return messageScreen(call).lines(safeText(text))
    const { default: ora } = await import('ora')
    // It must not read stdin: a question may be waiting for a key.
    if (!isOver) spinner = ora({ text: safeText(latest), stream: process.stderr, discardStdin: false }).start()
  }
  const timer = setTimeout(() => void show(), DELAY_MS)
  try {
    return await work((told) => {
      latest = told
      if (spinner) spinner.text = safeText(told)
    })
  } finally {
    isOver = true
    clearTimeout(timer)
    spinner?.stop()
  }
}
