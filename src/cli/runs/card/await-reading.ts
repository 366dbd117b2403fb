/** Offers the keys of a card only when it can have been read, so that no earlier key decides it. */
import { setTimeout as after } from 'node:timers/promises'
import { describeEarlyKeys, untilKeysDecide } from '../../../spec/view/card-reading.ts'
import { tell, type OpenDecision } from './open-decision.ts'

/**
 * Shows the card without its keys until a key can be meant for it. Keys typed too early are discarded, and the card says so.
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
    const early = typed.filter((key) => keys.includes(key.toLowerCase()))
    if (early.length > 0) tell(decision, describeEarlyKeys([...new Set(early)]))
    const now = io.clock.monotonic()
    if (Number.isNaN(shownAt)) shownAt = now
    decision.shown = { content, at: shownAt }
    const left = untilKeysDecide(shownAt, io.prompts.lastTyped?.(keys) ?? -Infinity, now)
    if (left <= 0) return
    show()
    await after(left, undefined, { signal: decision.signal }).catch((error: unknown) => {
      throw decision.signal.aborted ? decision.signal.reason : error
    })
  }
}
