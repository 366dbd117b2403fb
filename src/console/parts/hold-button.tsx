/**
 * A button for an act that cannot be undone. It acts when it was held, by pointer or by key; a short press, or that of a
 * screen reader, asks once more in another way.
 */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Child, View } from './view.ts'
import { findTopLayer } from './layers.ts'

export const HOLD_MS = 600

export interface HoldHandle {
  begin(): void
  /** @returns true where it was let go too early */
  end(): boolean
}

export function useHold(act: () => void): { readonly isHeld: boolean; readonly handle: HoldHandle } {
  const [isHeld, setHeld] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const begin = (): void => {
    if (timer.current !== undefined) return
    setHeld(true)
    timer.current = setTimeout(() => {
      timer.current = undefined
      setHeld(false)
      // No event tells of a key that is let go in another window; and nobody decides what a dialog came to cover.
      if (document.hasFocus() && !findTopLayer()) act()
    }, HOLD_MS)
  }
  const end = (): boolean => {
    const wasEarly = timer.current !== undefined
    clearTimeout(timer.current)
    timer.current = undefined
    setHeld(false)
    return wasEarly
  }
  // Who leaves the card has let go, and no event says so.
  useEffect(() => () => clearTimeout(timer.current), [])
  return { isHeld, handle: { begin, end } }
}

export function HoldButton({
  hold: { isHeld, handle },
  disabled,
  keyName,
  onShort,
  children,
}: {
  readonly hold: ReturnType<typeof useHold>
  readonly disabled: boolean
  /** The key that does the same. */
  readonly keyName?: string | undefined
  /** Pressed, but not held. */
  readonly onShort: () => void
  readonly children: Child
}): View {
  const isPressed = useRef(false)
  const begin = (): void => {
    if (disabled) return
    isPressed.current = true
    handle.begin()
  }
  const end = (): void => void (handle.end() && onShort())
  return (
    <button
      type="button"
      class={`button primary hold ${isHeld ? 'held' : ''}`}
      disabled={disabled}
      aria-keyshortcuts={keyName}
      onPointerDown={(event: PointerEvent) => event.button === 0 && begin()}
      onPointerUp={end}
      onPointerLeave={() => handle.end()}
      onKeyDown={(event: KeyboardEvent) => {
        if (event.key !== 'Enter' && event.key !== ' ') return
        event.preventDefault()
        if (!event.repeat) begin()
      }}
      onKeyUp={(event: KeyboardEvent) => (event.key === 'Enter' || event.key === ' ') && end()}
      onClick={(event: MouseEvent) => {
        // A screen reader presses without a pointer or a key.
        if (event.detail === 0 && !isPressed.current) onShort()
        isPressed.current = false
      }}
    >
      <span class="hold-fill" aria-hidden="true"></span>
      <span class="hold-label">{children}</span>
    </button>
  )
}
