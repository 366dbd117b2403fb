/** Asks once more before an approval that cannot be undone, in the place of the panel that decides. */
import { takeLostFocus } from '../parts/lost-focus.ts'
import { SecondButton } from '../parts/second-button.tsx'
import type { Child, View } from '../parts/view.ts'

export const ConfirmFooter = ({
  kind = '',
  warning,
  isDisabled,
  onApprove,
  onBack,
  children,
}: {
  /** A further class. */
  readonly kind?: string
  readonly warning: string
  readonly isDisabled: boolean
  readonly onApprove: () => void
  readonly onBack: () => void
  readonly children: Child
}): View => (
  <footer class={`decide ${kind}`} role="group" aria-label="Confirm" tabindex={-1} ref={takeLostFocus}>
    <p class="confirm-text">{warning}</p>
    <div class="buttons">
      <SecondButton kind="primary" isDisabled={isDisabled} onPress={onApprove}>
        {children}
      </SecondButton>
      <button type="button" class="button" onClick={onBack}>
        Back
      </button>
    </div>
  </footer>
)
