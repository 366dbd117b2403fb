/** The foot of a review list: approve or reject what is ticked. What cannot be undone is approved by holding the button. */
import { useState } from 'preact/hooks'
import { RejectForm } from '../card/reject-form.tsx'
import { HoldButton, useHold } from '../parts/hold-button.tsx'
import type { View } from '../parts/view.ts'
import { takeLostFocus } from '../parts/lost-focus.ts'
import { SecondButton } from '../parts/second-button.tsx'

export function BulkDecidePanel({
  count,
  totals,
  isIrreversible,
  blocked,
  isSending,
  onDecide,
}: {
  readonly count: number
  /** What they move in all, to be written behind the count. */
  readonly totals: string
  /** Of one of them. */
  readonly isIrreversible: boolean
  readonly blocked: string | undefined
  readonly isSending: boolean
  readonly onDecide: (approved: boolean, comment: string) => void
}): View {
  const [mode, setMode] = useState<'choose' | 'confirm' | 'reject'>('choose')
  const isDisabled = count === 0 || isSending || blocked !== undefined
  const approve = (): void => {
    setMode('choose')
    if (!isDisabled) onDecide(true, '')
  }
  const hold = useHold(approve)
  if (mode === 'reject')
    return (
      <RejectForm
        label={`Reject ${count}`}
        kind="bulk-decide"
        isDisabled={isDisabled}
        onCancel={() => setMode('choose')}
        onSend={(comment: string) => {
          setMode('choose')
          onDecide(false, comment)
        }}
      />
    )
  if (mode === 'confirm')
    return (
      <footer class="decide bulk-decide" role="group" aria-label="Confirm" tabindex={-1} ref={takeLostFocus}>
        <p class="confirm-text">These cannot be undone once they are sent.</p>
        <div class="buttons">
          <SecondButton kind="primary" isDisabled={isDisabled} onPress={approve}>
            Yes, approve all {count}
            {totals}
          </SecondButton>
          <button type="button" class="button" onClick={() => setMode('choose')}>
            Back
          </button>
        </div>
      </footer>
    )
  return (
    <footer class="decide bulk-decide" role="group" aria-label="Decide">
      {blocked !== undefined && <p class="why-not">{blocked}</p>}
      <div class="buttons">
        {isIrreversible ? (
          <HoldButton hold={hold} disabled={isDisabled} onShort={() => setMode('confirm')}>
            Hold to approve {count}
            {totals}
          </HoldButton>
        ) : (
          <button type="button" class="button primary" disabled={isDisabled} onClick={approve}>
            Approve {count}
            {totals}
          </button>
        )}
        <button type="button" class="button" disabled={isDisabled} onClick={() => setMode('reject')}>
          Reject {count}
        </button>
      </div>
    </footer>
  )
}
