/** Single keys that act on the screen, while no input has the focus and nothing lies in front of it. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { closeMenuOnEscape, closeMenusOnPressElsewhere, findTopLayer } from './layers.ts'

export type KeyActions = Readonly<Record<string, ((event: KeyboardEvent) => void) | undefined>>

const screens: { current: KeyActions }[] = []

/**
 * The actions of the innermost screen that has one for the key. They last while the screen is shown.
 * @param isAround for what stands around every screen: its effects come after theirs, and its actions are the last resort
 */
export function useKeys(actions: KeyActions, isAround = false): void {
  const screen = useRef(actions)
  screen.current = actions
  // A layout effect, so that the keys act as soon as the screen can be seen.
  useLayoutEffect(() => {
    if (isAround) screens.unshift(screen)
    else screens.push(screen)
    return () => void screens.splice(screens.indexOf(screen), 1)
  }, [])
}

/** The `ref` of the input that takes the keys as soon as it is shown; `autofocus` does so once a page only. */
export const focusWhenShown = (element: HTMLElement | null): void => element?.focus()

/** Time within which the second key of a pair must come. */
const PAIR_MS = 1200

/** Keys of a card that decide, also where no card is shown any more. */
const DECIDING_KEYS: ReadonlySet<string> = new Set(['a', 'e', 'r'])

interface DecidingKey {
  readonly key: string
  /** When it went down or repeated, in the time of `performance.now`. */
  readonly at: number
  /** False where nothing on the screen had a use for it. */
  readonly isTaken: boolean
}

let decidingKey: DecidingKey = { key: '', at: Number.NEGATIVE_INFINITY, isTaken: true }

export const lastDecidingKey = (): DecidingKey => decidingKey

export function listenToKeys(): void {
  let first: { readonly key: string; readonly at: number } | undefined
  closeMenusOnPressElsewhere()
  addEventListener('keydown', (event) => {
    const layer = findTopLayer()
    if (layer) {
      first = undefined
      return closeMenuOnEscape(layer, event)
    }
    // Behind a shadow root the event names its host; the path names the element.
    if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.composedPath()[0] ?? null)) return
    const pair = first && event.timeStamp - first.at < PAIR_MS ? `${first.key} ${event.key}` : undefined
    first = undefined
    const act = (pair === undefined ? undefined : find(pair)) ?? find(event.key)
    if (DECIDING_KEYS.has(event.key))
      decidingKey = { key: event.key, at: performance.now(), isTaken: act !== undefined }
    if (act) {
      event.preventDefault()
      act(event)
    } else if (event.key === 'g') first = { key: 'g', at: event.timeStamp }
  })
}

const find = (key: string) => screens.findLast((screen) => screen.current[key])?.current[key]

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
