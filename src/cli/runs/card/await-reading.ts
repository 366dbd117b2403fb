/** Offers the keys of a card only when it can have been read, and takes one that decides only if it was pressed alone. */
import { setTimeout as after } from 'node:timers/promises'
import { describeEarlyKeys, untilKeysDecide } from '../../../view/task/card-reading.ts'
import { tell, type OpenDecision } from './open-decision.ts'

/** How often typed keys are looked at meanwhile. */
const LOOK_EVERY_MS = 100

/**
 * Shows the card without its keys until a key can be meant for it. Keys that decide are discarded, and the card says so.
 * @param content the decision as text; the time starts again only when it changes
 * @param keys those that decide
 * @param looking those that only show something: they need no wait
 * @param show draws the card without its keys
 * @returns the looking key that was typed meanwhile
 */
export async function awaitReading(
  decision: OpenDecision,
  content: string,
  keys: readonly string[],
  looking: readonly string[],
  show: () => void,
): Promise<string | undefined> {
  const { io } = decision.session.call
  // Scripted prompts have no keyboard.
  if (!io.prompts.dropTyped || keys.length === 0) return undefined
  let shownAt = decision.shown?.content === content ? decision.shown.at : Number.NaN
  for (;;) {
    const typed = await io.prompts.dropTyped()
    const early = typed.filter((key) => keys.includes(key))
    if (early.length > 0) tell(decision, describeEarlyKeys([...new Set(early)]))
    const look = early.length > 0 || Number.isNaN(shownAt) ? undefined : typed.find((key) => looking.includes(key))
    if (look !== undefined) return look
    const now = io.clock.monotonic()
    if (Number.isNaN(shownAt)) shownAt = now
    decision.shown = { content, at: shownAt }
    const left = untilKeysDecide(shownAt, io.prompts.lastTyped?.(keys) ?? -Infinity, now)
    if (left <= 0) return undefined
    show()
    await after(Math.min(left, LOOK_EVERY_MS), undefined, { signal: decision.signal }).catch((error: unknown) => {
      throw decision.signal.aborted ? decision.signal.reason : error
    })
  }
}

/**
 * Reads one of the keys of a card. One that decides, but was not pressed alone, decides nothing, and the card says so.
 * @returns undefined where the card must be drawn again
 */
export async function readOfferedKey(
  decision: OpenDecision,
  offered: readonly string[],
  deciding: readonly string[],
): Promise<string | undefined> {
  const refused = new AbortController()
  const onRefused = (key: string): void => {
    tell(decision, describeEarlyKeys([key]))
    refused.abort()
  }
  try {
    const until = AbortSignal.any([decision.signal, refused.signal])
    return await decision.surface.key(offered, until, { deciding, onRefused })
  } catch (error) {
    if (refused.signal.aborted && !decision.signal.aborted) return undefined
    throw error
  }
}
