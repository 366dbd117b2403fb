/** The ledger of a run: every call with its keys, how often it was sent, and what became of it. */
import { safeText } from '../../../base/escape-text.ts'
import { shortId } from '../../../base/short-text.ts'
import type { CallView } from '../../../operations/runs.ts'
import { describeUndoing } from '../../../view/undo.ts'
import { Badge, type Tone } from '../../parts/badge.ts'
import { html, type View } from '../../parts/html.ts'
import { Table } from '../../parts/table.ts'
import type { IconName } from '../../parts/icon.ts'
import { TimeOfDay } from '../../parts/moments.ts'
import { EmptyState, showUnread } from '../../parts/states.ts'
import { aboutNothing, useOperator } from '../../wire/resource.ts'

export function EffectsTab({ id, last }: { readonly id: string; readonly last: number }): View {
  const calls = useOperator('GET /runs/:id/calls', { id }, aboutNothing, last)
  const items = calls.value?.items
  if (!items) return showUnread(calls, 3)
  if (items.length === 0) return html`<${EmptyState} icon="tool" title="No call was made yet." />`
  return html`
    <${Table}
      label="Calls"
      heads=${['Call', 'Outcome', ['Attempt', 'num'], 'Effect key', 'Idempotency key', 'Last change']}
    >
      ${items.map((call) => html`<${CallRow} key=${`${call.runId} ${call.toolCallId}`} call=${call} />`)}
    </${Table}>
  `
}

const OUTCOMES: Readonly<Record<string, readonly [Tone, IconName]>> = {
  executed: ['ok', 'check'],
  denied: ['bad', 'cross'],
  rejected: ['bad', 'cross'],
  failed: ['bad', 'warning'],
  invalid: ['bad', 'warning'],
  unknown: ['warn', 'warning'],
  awaiting: ['waiting', 'person'],
}

function CallRow({ call }: { readonly call: CallView }): View {
  const { tool, agent, runId, state, attempts, effect, idempotencyKey, at, undoneBy, undoes } = call
  const [tone, icon] = OUTCOMES[state] ?? (['quiet', 'dot'] as const)
  return html`
    <tr>
      <td>
        ${safeText(tool)}<span class="sub">${safeText(agent)} <code>${shortId(runId)}</code></span>
        ${undoes && html`<span class="sub">undoes ${safeText(undoes.tool)}</span>`}
      </td>
      <td>
        <${Badge} tone=${tone} icon=${icon} text=${safeText(state.replaceAll('_', ' '))} />
        ${undoneBy && html`<a class="sub" href=${`/runs/${undoneBy.runId}`}>${safeText(describeUndoing(undoneBy))}</a>`}
      </td>
      <td class="num">${attempts}</td>
      <td class="key" data-head="Effect key">
        ${effect ? html`<code>${safeText(effect.key)}</code><span class="sub">${effect.holds ? 'held' : 'given back'}, ${safeText(effect.outcome.replaceAll('_', ' '))}</span>` : html`<span class="dim">none</span>`}
      </td>
      <td class="key" data-head="Idempotency key"><code class="dim">${safeText(idempotencyKey)}</code></td>
      <td class="when"><${TimeOfDay} at=${at} /></td>
    </tr>
  `
}
