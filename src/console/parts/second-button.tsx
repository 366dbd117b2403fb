/** A button that confirms what another one asked for, often in that one's place. */
import { useEffect, useState } from 'preact/hooks'
import { describeEarlyPress } from '../../view/task/card-reading.ts'
import { HOLD_MS } from './hold-button.tsx'
import type { Child, View } from './view.ts'

/**
 * It takes nothing until it has been shown as long as a button is held, so a double click on the first does not press both, nor
 * does an Enter that is still held. It says so.
 * @param onPress without it the button submits its form
 */
export function SecondButton({
  kind,
  isDisabled,
  onPress,
  children,
}: {
  /** Further classes. */
  readonly kind: string
  readonly isDisabled: boolean
  readonly onPress?: () => void
  readonly children: Child
}): View {
  const [isEarly, setEarly] = useState(true)
  const [wasEarly, setWasEarly] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setEarly(false), HOLD_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <>
      <button
        type={onPress ? 'button' : 'submit'}
        class={`button ${kind}`}
        disabled={isDisabled}
        aria-disabled={isEarly ? 'true' : undefined}
        onKeyDown={(event: KeyboardEvent) => event.repeat && event.preventDefault()}
        onClick={(event: MouseEvent) => {
          setWasEarly(isEarly)
          if (isEarly) event.preventDefault()
          else onPress?.()
        }}
      >
        {children}
      </button>
      {wasEarly && (
        <p class="why-not" role="alert">
          {describeEarlyPress('the press')}
        </p>
      )}
    </>
  )
}
