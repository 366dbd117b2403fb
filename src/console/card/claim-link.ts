/** Says that whoever looks at the card does, so that others need not. */
import { useState } from 'preact/hooks'
import type { ShownTask } from '../../spec/task.ts'
import { announce } from '../parts/announce.ts'
import { html, type View } from '../parts/html.ts'
import { hintAll } from '../wire/live.ts'
import { callOperator, findRefusal } from '../wire/request.ts'

export function ClaimLink({ task: { id, people } }: { readonly task: ShownTask }): View {
  const [isSending, setSending] = useState(false)
  const isMine = people?.looking?.some(({ isYou }) => isYou) === true
  const act = async (): Promise<void> => {
    setSending(true)
    const refusal = await findRefusal(() => callOperator('POST /tasks/:id/claim', { id, body: { leave: isMine } }))
    announce(refusal?.message ?? (isMine ? 'You do not look at it any more.' : 'Others see that you look at it.'))
    setSending(false)
    hintAll()
  }
  return html`<button
    type="button"
    class="link"
    aria-pressed=${isMine}
    disabled=${isSending}
    title="Tells others for 15 minutes that you look at it; anybody may still decide"
    onClick=${() => void act()}
  >
    ${isMine ? 'Leave' : 'Claim'}
  </button>`
}
