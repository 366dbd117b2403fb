/** The foot of a review list: approve or reject what is ticked. What cannot be undone is approved by holding the button. */
import { useState } from 'preact/hooks'
import { ConfirmFooter } from '../card/confirm-footer.tsx'
import { RejectForm } from '../card/reject-form.tsx'
import { HoldButton, useHold } from '../parts/hold-button.tsx'
import type { View } from '../parts/view.ts'

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
      <ConfirmFooter
        kind="bulk-decide"
        warning="These cannot be undone once they are sent."
        isDisabled={isDisabled}
        onApprove={approve}
        onBack={() => setMode('choose')}
      >
        Yes, approve all {count}
        {totals}
      </ConfirmFooter>
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
