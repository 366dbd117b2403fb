/** Asks for the reason of a rejection, which the agent reads. */
import { useState } from 'preact/hooks'
import type { Child, View } from '../parts/view.ts'
import { takeText } from '../parts/input.ts'
import { focusWhenShown } from '../parts/keys.ts'

export function RejectForm({
  label = 'Reject',
  kind = '',
  isDisabled,
  onCancel,
  onSend,
  children,
}: {
  readonly label?: string
  /** A further class. */
  readonly kind?: string
  readonly isDisabled: boolean
  readonly onCancel: () => void
  readonly onSend: (comment: string) => void
  /** What a rejection does. */
  readonly children?: Child
}): View {
  const [comment, setComment] = useState('')
  const send = (event: Event): void => {
    event.preventDefault()
    onSend(comment.trim())
  }
  return (
    <form class={`decide ${kind}`} onSubmit={send}>
      <label class="field">
        <span>Reason</span>
        <textarea rows={2} ref={focusWhenShown} value={comment} onInput={takeText(setComment)} />
      </label>
      {children}
      <div class="buttons">
        <button class="button danger" disabled={isDisabled}>
          {label}
        </button>
        <button type="button" class="button" onClick={onCancel}>
          Back
        </button>
      </div>
    </form>
  )
}
