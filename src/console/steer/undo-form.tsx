/** Undoes what a run made: the plan call by call, and the request: `svc runs undo`. */
import { useState } from 'preact/hooks'
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { UndoItemView, UndoPlanView } from '../../operations/steering.ts'
import { describeUndoItem } from '../../view/undo.ts'
import { announce } from '../parts/announce.ts'
import { Badge, type Tone } from '../parts/badge.tsx'
import type { View } from '../parts/view.ts'
import { Table } from '../parts/table.tsx'
import type { IconName } from '../parts/icon.tsx'
import { showUnread } from '../parts/states.tsx'
import { callOperator } from '../wire/request.ts'
import { aboutNothing, useOperator } from '../wire/resource.ts'
import { ActionForm, ReasonField } from './action-form.tsx'

interface UndoFormProps {
  readonly id: string
  /** Number of the last step that is known: after another one the plan may be another. */
  readonly last: number
  readonly onDone: () => void
}

export function UndoForm({ id, last, onDone }: UndoFormProps): View {
  const plan = useOperator('GET /runs/:id/undo', { id }, aboutNothing, last)
  const { value } = plan
  if (!value) return showUnread(plan, 3)
  return (
    <section aria-label="What can be undone">
      <Table label="Calls, newest first" heads={['Call', 'Undone by', 'State']}>
        {value.items.map((item) => (
          <UndoRow key={keyOf(item)} item={item} />
        ))}
      </Table>
      <UndoRequestForm plan={value} onDone={onDone} />
    </section>
  )
}

const keyOf = ({ runId, toolCallId }: UndoItemView): string => `${runId} ${toolCallId}`

const STATES: Readonly<Record<UndoItemView['state'], readonly [Tone, IconName, string]>> = {
  open: ['quiet', 'dot', 'open'],
  under_way: ['waiting', 'person', 'under way'],
  undone: ['ok', 'check', 'undone'],
  final: ['bad', 'cross', 'stays'],
}

/** With every argument, as the terminal shows it: whoever confirms must have seen them. */
function UndoRow({ item }: { readonly item: UndoItemView }): View {
  const { tool, arguments: given, agent, runId, undo, undoneBy, state } = item
  const [tone, icon, text] = STATES[state]
  return (
    <tr>
      <td>
        {safeText(tool)} <code>{safeJson(given)}</code>
        <span class="sub">
          {safeText(agent)} <code>{shortId(runId)}</code>
        </span>
      </td>
      <td>
        {undo && (
          <>
            {safeText(undo.tool)} <code>{safeJson(undo.arguments)}</code>
          </>
        )}
        {undoneBy && <a href={`/runs/${undoneBy.runId}`}>run {shortId(undoneBy.runId)}</a>}
      </td>
      <td>
        <Badge tone={tone} icon={icon} text={text} />
        <span class="sub">{safeText(describeUndoItem(item))}</span>
      </td>
    </tr>
  )
}

/** Asks for exactly the calls that are shown. */
function UndoRequestForm({ plan, onDone }: { readonly plan: UndoPlanView; readonly onDone: () => void }): View {
  const [reason, setReason] = useState('')
  const calls = plan.items.filter(({ state, undo }) => state === 'open' && undo?.decision !== 'deny')
  const undo = async (): Promise<void> => {
    const asked = calls.map(({ runId, toolCallId }) => ({ runId, toolCallId }))
    await callOperator('POST /runs/:id/undo', {
      id: plan.runId,
      body: { calls: asked, ...(reason !== '' && { reason }) },
    })
    announce('The undo is under way.')
  }
  return (
    <ActionForm
      label={calls.length === 1 ? 'Undo this call' : `Undo ${calls.length} calls`}
      title={
        calls.length === 0
          ? 'Nothing of this run can be undone now.'
          : 'One call after another, newest first. One that fails or waits for a person holds the rest.'
      }
      isDangerous
      isBlocked={calls.length === 0}
      act={undo}
      onDone={onDone}
    >
      {calls.length > 0 && <ReasonField value={reason} onInput={setReason} />}
    </ActionForm>
  )
}
