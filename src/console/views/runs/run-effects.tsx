/** The ledger of a run: every call with its keys, how often it was sent, and what became of it. */
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { CallView } from '../../../operations/runs.ts'
import { describeUndoing } from '../../../view/undo.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import type { IconName } from '../../parts/icon.tsx'
import { TimeOfDay } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { aboutNothing, useOperator } from '../../wire/resource.ts'

export function EffectsTab({ id, last }: { readonly id: string; readonly last: number }): View {
  const calls = useOperator('GET /runs/:id/calls', { id }, aboutNothing, last)
  const items = calls.value?.items
  if (!items) return showUnread(calls, 3)
  if (items.length === 0) return <EmptyState icon="tool" title="No call was made yet." />
  return (
    <Table
      label="Calls"
      heads={['Call', 'Outcome', ['Attempt', 'num'], 'Effect key', 'Idempotency key', 'Last change']}
    >
      {items.map((call) => (
        <CallRow key={`${call.runId} ${call.toolCallId}`} call={call} />
      ))}
    </Table>
  )
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
  return (
    <tr>
      <td>
        {safeText(tool)}
        <span class="sub">
          {safeText(agent)} <code>{shortId(runId)}</code>
        </span>
        {undoes && <span class="sub">undoes {safeText(undoes.tool)}</span>}
      </td>
      <td>
        <Badge tone={tone} icon={icon} text={safeText(state.replaceAll('_', ' '))} />
        {undoneBy && (
          <a class="sub" href={`/runs/${undoneBy.runId}`}>
            {safeText(describeUndoing(undoneBy))}
          </a>
        )}
      </td>
      <td class="num">{attempts}</td>
      <td class="key" data-head="Effect key">
        {effect ? (
          <>
            <code>{safeText(effect.key)}</code>
            <span class="sub">
              {effect.holds ? 'held' : 'given back'}, {safeText(effect.outcome.replaceAll('_', ' '))}
            </span>
          </>
        ) : (
          <span class="dim">none</span>
        )}
      </td>
      <td class="key" data-head="Idempotency key">
        <code class="dim">{safeText(idempotencyKey)}</code>
      </td>
      <td class="when">
        <TimeOfDay at={at} />
      </td>
    </tr>
  )
}
