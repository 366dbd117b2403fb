/** Offers the keys of a card only when it can have been read, so that no earlier key decides it. */
import { setTimeout as after } from 'node:timers/promises'
import { describeEarlyKeys, HELD_MS, READING_MS } from '../../../spec/view/early-key.ts'
import { wrapText } from '../../../terminal/text.ts'
import type { OpenDecision } from './open-decision.ts'

/**
 * Shows the card without its keys until a key can be meant for it: the card has been shown for a while, and no deciding key was
 * typed recently. So the second key of a double press decides nothing, nor does a key that is still held. Keys typed too early
 * are discarded, and the card says so.
 * @param content the decision as text; the time starts again only when it changes
 * @param keys those that decide
 * @param show draws the card without its keys
 */
export async function awaitReading(
  decision: OpenDecision,
  content: string,
  keys: readonly string[],
  show: () => void,
): Promise<void> {
  const { io } = decision.session.call
  // Scripted prompts have no keyboard.
  if (!io.prompts.dropTyped || keys.length === 0) return
  const isNew = decision.shown?.content !== content
  let shownAt = isNew ? Number.NaN : decision.shown!.at
  for (;;) {
    const typed = await io.prompts.dropTyped()
    if (typed.some((key) => keys.includes(key.toLowerCase()))) tellUntaken(decision, typed)
    const now = io.clock.monotonic()
    if (Number.isNaN(shownAt)) shownAt = now
    decision.shown = { content, at: shownAt }
    const left = Math.max(shownAt + READING_MS, (io.prompts.lastTyped?.(keys) ?? -Infinity) + HELD_MS) - now
    if (left <= 0) return
    show()
    await after(left, undefined, { signal: decision.signal }).catch((error: unknown) => {
      throw decision.signal.aborted ? decision.signal.reason : error
    })
  }
}

function tellUntaken(decision: OpenDecision, typed: readonly string[]): void {
  const { canvas } = decision.surface
  decision.panel = { key: '', lines: wrapText(describeEarlyKeys(typed), canvas.width - 2).map(canvas.theme.bad) }
}
