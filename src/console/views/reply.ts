/** A reply to a run that asks. */
import { useState } from 'preact/hooks'
import { html, type View } from '../parts/html.ts'
import { callOperator, RequestError } from '../wire/request.ts'

export function ReplyPanel({ runId, onSent }: { readonly runId: string; readonly onSent: () => void }): View {
  const [text, setText] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    setSending(true)
    try {
      const { error } = await callOperator('POST /runs/:id/messages', { id: runId, body: { text } })
      setProblem(error)
      if (error === undefined) {
        setText('')
        onSent()
      }
    } catch (thrown) {
      if (!(thrown instanceof RequestError)) throw thrown
      setProblem(thrown.message)
    } finally {
      setSending(false)
    }
  }
  return html`
    <form class="decide" onSubmit=${(event: Event) => void send(event)}>
      <label class="field"
        ><span>Reply</span>
        <textarea
          rows="3"
          value=${text}
          onInput=${(event: { currentTarget: HTMLTextAreaElement }) => setText(event.currentTarget.value)}
        />
      </label>
      ${problem !== undefined && html`<p class="why-not" role="alert">${problem}</p>`}
      <div class="buttons">
        <button class="button primary" disabled=${isSending || text.trim() === ''}>Send</button>
      </div>
    </form>
  `
}
