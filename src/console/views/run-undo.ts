/** Undoing what a run made: the offer after a failure, the plan call by call, and the request. */
import { useState } from 'preact/hooks'
import { safeJson, safeText } from '../../base/escape-text.ts'
import { shortId } from '../../base/short-text.ts'
import type { OutlineRun, UndoItemView, UndoPlanView } from '../../spec/operator-views.ts'
import { describeUndoItem } from '../../spec/view/undo.ts'
import { announce } from '../parts/announce.ts'
import { Badge, type Tone } from '../parts/badge.ts'
import { html, type View } from '../parts/html.ts'
import { Icon, type IconName } from '../parts/icon.ts'
import { ErrorNote, Loading } from '../parts/states.ts'
import { hintAll } from '../wire/live.ts'
import { callOperator, RequestError } from '../wire/request.ts'
import { useResource } from '../wire/resource.ts'

/** What can be undone of a run that failed or was cancelled; nothing where there is nothing. */
export function UndoOffer({ run, last }: { readonly run: OutlineRun; readonly last: number }): View | null {
  const isOffered = run.status === 'Failed' || run.status === 'Cancelled'
  const [isOpen, setOpen] = useState(false)
  const plan = useResource(
    `undo offer ${run.runId} ${isOffered ? last : ''}`,
    async () => (isOffered ? callOperator('GET /runs/:id/undo', { id: run.runId }) : undefined),
    () => false,
  ).value.value
  if (isOpen) return html`<${UndoPanel} id=${run.runId} last=${last} onClose=${() => setOpen(false)} />`
  if (!plan || plan.undoable === 0) return null
  const calls = plan.undoable === 1 ? 'A call' : `${plan.undoable} calls`
  return html`
    <div class="note waiting">
      <${Icon} name="warning" />
      <span>${calls} that this run made can be undone. </span>
      <button type="button" class="button small" onClick=${() => setOpen(true)}>Show the plan</button>
    </div>
  `
}

/** Of a run that has ended: opens the plan. */
export function UndoButton({ id, last }: { readonly id: string; readonly last: number }): View {
  const [isOpen, setOpen] = useState(false)
  return isOpen
    ? html`<${UndoPanel} id=${id} last=${last} onClose=${() => setOpen(false)} />`
    : html`<div class="buttons">
        <button type="button" class="button small" onClick=${() => setOpen(true)}>Undo…</button>
      </div>`
}

interface UndoPanelProps {
  readonly id: string
  readonly last: number
  readonly onClose: () => void
}

function UndoPanel({ id, last, onClose }: UndoPanelProps): View {
  const plan = useResource(
    `undo ${id} ${last}`,
    () => callOperator('GET /runs/:id/undo', { id }),
    () => false,
  )
  const { value } = plan.value
  if (!value)
    return plan.error.value ? html`<${ErrorNote} error=${plan.error.value} />` : html`<${Loading} rows=${3} />`
  return html`
    <section class="undo-plan" aria-label="What can be undone">
      <div class="table-wrap" role="region" aria-label="Calls, newest first" tabindex="0">
        <table class="table">
          <thead>
            <tr>
              <th scope="col">Call</th>
              <th scope="col">Undone by</th>
              <th scope="col">State</th>
            </tr>
          </thead>
          <tbody>
            ${value.items.map((item) => html`<${UndoRow} key=${keyOf(item)} item=${item} />`)}
          </tbody>
        </table>
      </div>
      <${UndoForm} plan=${value} onClose=${onClose} />
    </section>
  `
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
  return html`
    <tr>
      <td>
        ${safeText(tool)} <code>${safeJson(given)}</code
        ><span class="sub">${safeText(agent)} <code>${shortId(runId)}</code></span>
      </td>
      <td>
        ${undo && html`${safeText(undo.tool)} <code>${safeJson(undo.arguments)}</code>`}
        ${undoneBy && html`<a href=${`/runs/${undoneBy.runId}`}>run ${shortId(undoneBy.runId)}</a>`}
      </td>
      <td>
        <${Badge} tone=${tone} icon=${icon} text=${text} /><span class="sub">${safeText(describeUndoItem(item))}</span>
      </td>
    </tr>
  `
}

/** Asks for exactly the calls that are shown. */
function UndoForm({ plan, onClose }: { readonly plan: UndoPlanView; readonly onClose: () => void }): View {
  const [reason, setReason] = useState('')
  const [problem, setProblem] = useState<string | undefined>(undefined)
  const calls = plan.items.filter(({ state, undo }) => state === 'open' && undo?.decision !== 'deny')
  const undo = async (event: Event): Promise<void> => {
    event.preventDefault()
    try {
      await callOperator('POST /runs/:id/undo', {
        id: plan.runId,
        body: {
          calls: calls.map(({ runId, toolCallId }) => ({ runId, toolCallId })),
          ...(reason !== '' && { reason }),
        },
      })
      announce('The undo is under way.')
      hintAll()
      onClose()
    } catch (error) {
      if (!(error instanceof RequestError)) throw error
      setProblem(error.message)
    }
  }
  return html`
    <form class="cancel-form" onSubmit=${(event: Event) => void undo(event)}>
      ${
        calls.length > 0 &&
        html`
          <p>One call after another, newest first. The first that fails or waits for a person holds those after it.</p>
          <label class="field"
            ><span>Reason</span
            ><input
              value=${reason}
              maxlength="300"
              onInput=${(event: { currentTarget: HTMLInputElement }) => setReason(event.currentTarget.value)}
          /></label>
        `
      }
      ${problem !== undefined && html`<p class="why-not" role="alert">${problem}</p>`}
      <div class="buttons">
        ${calls.length > 0 && html`<button class="button danger">Undo ${calls.length === 1 ? 'this call' : `${calls.length} calls`}</button>`}
        <button type="button" class="button" onClick=${onClose}>Back</button>
      </div>
    </form>
  `
}
