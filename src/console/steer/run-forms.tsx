/** Ends a run, resumes it where it stopped, or starts it again: `svc runs cancel|resume|retry`. */
import { useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { OutlineRun } from '../../operations/runs.ts'
import { announce } from '../parts/announce.ts'
import type { View } from '../parts/view.ts'
import { goTo } from '../wire/navigation.ts'
import { callOperator } from '../wire/request.ts'
import { ActionForm, ReasonField, type Overruling } from './action-form.tsx'
import { VersionField } from './version-field.tsx'

export function CancelForm({ runId, onDone }: { readonly runId: string; readonly onDone: () => void }): View {
  const [reason, setReason] = useState('')
  const cancel = async (): Promise<void> => {
    const { after } = await callOperator('POST /runs/:id/cancel', { id: runId, body: reason === '' ? {} : { reason } })
    announce(`The run is ${after}.`)
  }
  return (
    <ActionForm
      label="Cancel the run"
      title="The run and its sub-agent runs end; a call that is under way may still happen."
      isDangerous
      act={cancel}
      onDone={onDone}
    >
      <ReasonField value={reason} onInput={setReason} />
    </ActionForm>
  )
}

interface RunFormProps {
  readonly run: OutlineRun
  readonly onDone: () => void
}

export function ResumeForm({ run, onDone }: RunFormProps): View {
  const [reason, setReason] = useState('')
  const [version, setVersion] = useState('')
  const [grant, setGrant] = useState(false)
  const resume = async (overruling: Overruling): Promise<void> => {
    const body = {
      ...overruling,
      ...(reason !== '' && { reason }),
      ...(version !== '' && { version }),
      ...(grant && { grant }),
    }
    await callOperator('POST /runs/:id/resume', { id: run.runId, body })
    announce('The run is resumed.')
  }
  return (
    <ActionForm
      label="Resume the run"
      title="The run continues where it stopped. Calls that were made stay made; one in doubt is asked about first."
      act={resume}
      onDone={onDone}
    >
      <ReasonField value={reason} onInput={setReason} />
      <VersionField agent={run.agent} own={run.versionLabel} value={version} onChange={setVersion} />
      <label class="switch">
        <input
          type="checkbox"
          checked={grant}
          onChange={(event: { currentTarget: HTMLInputElement }) => setGrant(event.currentTarget.checked)}
        />
        <span>Grant the limit that ended it once more</span>
      </label>
    </ActionForm>
  )
}

export function RetryForm({ run, onDone }: RunFormProps): View {
  const retry = async (): Promise<void> => {
    const { runId } = await callOperator('POST /runs/:id/retry', { id: run.runId, body: {} })
    announce(`Run ${shortId(runId)} repeats it.`)
    goTo(`/runs/${runId}`)
  }
  return (
    <ActionForm
      label="Start it"
      title={`A new run of the deployed version of ${safeText(run.agent)} with the same input: its calls are made again, as far as policies and effect keys let them.`}
      act={retry}
      onDone={onDone}
    />
  )
}
