/** A reply to a run that asks. */
import { useState } from 'preact/hooks'
import type { FileView } from '../../../operations/sessions.ts'
import { FileField } from '../../card/file-field.tsx'
import type { View } from '../../parts/view.ts'
import { takeText } from '../../parts/input.ts'
import { callOperator, findRefusal } from '../../wire/request.ts'

export function ReplyPanel({ runId, onSent }: { readonly runId: string; readonly onSent: () => void }): View {
  const [text, setText] = useState('')
  const [file, setFile] = useState<FileView | undefined>(undefined)
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const [isSending, setSending] = useState(false)
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    setSending(true)
    const refusal = await findRefusal(async () => {
      const files = file && [{ objectKey: file.objectKey, filename: file.filename, mediaType: file.mediaType }]
      const body = { text, ...(files && { files }) }
      const { error } = await callOperator('POST /runs/:id/messages', { id: runId, body })
      setProblem(error)
      if (error !== undefined) return
      setText('')
      setFile(undefined)
      onSent()
    })
    if (refusal) setProblem(refusal.message)
    setSending(false)
  }
  return (
    <form class="decide" onSubmit={(event: Event) => void send(event)}>
      <label class="field">
        <span>Reply</span>
        <textarea rows={3} value={text} onInput={takeText(setText)} />
      </label>
      <label class="field">
        <span>File</span>
        <FileField kept={file?.filename} onKept={setFile} />
      </label>
      {problem !== undefined && (
        <p class="why-not" role="alert">
          {problem}
        </p>
      )}
      <div class="buttons">
        <button class="button primary" disabled={isSending || (text.trim() === '' && !file)}>
          Send
        </button>
      </div>
    </form>
  )
}
