/** The table of a list of runs. */
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { RunView } from '../../../operations/runs.ts'
import { describeCost } from '../../../spec/price.ts'
import { StatusBadge } from '../../parts/badge.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { Age, TimeTaken } from '../../parts/moments.tsx'
import { callOperator } from '../../wire/request.ts'

export const RunTable = ({ items }: { readonly items: readonly RunView[] }): View => (
  <Table
    label="Runs"
    heads={['Run', 'Status', 'Agent', 'Input', ['Own tokens', 'num'], ['Cost', 'num'], ['Took', 'num'], 'Started', '']}
  >
    {items.map((run) => (
      <tr key={run.runId}>
        <td class="id">
          <a href={`/runs/${run.runId}`} title={run.runId}>
            {shortId(run.runId)}
          </a>
        </td>
        <td>
          <StatusBadge status={run.status} />
          {run.waitingOn !== undefined && <span class="sub">{safeText(run.waitingOn)}</span>}
          {run.hold && <span class="sub">held: {safeText(run.hold.reason)}</span>}
        </td>
        <td class="agent">
          <span>{safeText(run.agent)}</span>
          <span class="sub">
            {safeText(run.versionLabel)}, by {safeText(run.trigger)}
          </span>
        </td>
        <td class="preview">
          <code>{safeText(run.inputPreview ?? '')}</code>
        </td>
        <td class="num">{run.totalTokensUsed.toLocaleString('en')}</td>
        <td class="num">{run.cost ? safeText(describeCost(run.cost) ?? '') : ''}</td>
        <td class="num">
          <TimeTaken from={run.startedAt} until={run.finishedAt} />
        </td>
        <td class="when">
          <Age at={run.startedAt} />
        </td>
        <td class="actions">
          {run.finishedAt === null && (
            <ConfirmButton
              label={
                <>
                  Cancel<span class="unseen"> run {shortId(run.runId)}</span>
                </>
              }
              question="Cancel it now"
              act={() => callOperator('POST /runs/:id/cancel', { id: run.runId, body: {} })}
            />
          )}
        </td>
      </tr>
    ))}
  </Table>
)
