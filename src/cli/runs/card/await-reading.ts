/** A key decides only what was there to be read: until then the keys are not offered, and what is typed is not taken. */
import { setTimeout as after } from 'node:timers/promises'
import { safeText } from '../../../base/escape-text.ts'
import { wrapText } from '../../../terminal/text.ts'
import type { OpenDecision } from './open-decision.ts'

/** Nobody has read a card sooner. */
const READING_MS = 400

/** A key that is held repeats; its first repetition may come this long after the key went down. */
const HELD_MS = 1000

/**
 * Shows something that is to be decided, without its keys, until a key can be meant for it: it has been shown for a while, and
 * no key that decides was typed for longer than a held key is silent. So the second key of a double press, and a key that is
 * still down, decide nothing, and the card says that they were not taken.
 * @param content what is decided; while it stays the same, it is not new to the reader
 * @param keys those that decide
 * @param show draws it with keys that are not offered yet
 */
export async function awaitReading(
  decision: OpenDecision,
  content: string,
  keys: readonly string[],
  show: () => void,
): Promise<void> {
  const { io } = decision.session.call
  // Scripted prompts have no keyboard; nobody can be too early.
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
  const names = [...new Set(typed)].slice(0, 4).map((key) => `"${safeText(key)}"`)
  const text = `Not taken: ${names.join(', ')} came before this could be read. Nothing was decided.`
  decision.panel = { key: '', lines: wrapText(text, canvas.width - 2).map(canvas.theme.bad) }
}
