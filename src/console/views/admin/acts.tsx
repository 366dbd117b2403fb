/** What operators did, newest first. */
import { cutText } from '../../../base/text/cut-text.ts'
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import type { ActView } from '../../../operations/acts.ts'
import { nameAct, describeActor } from '../../../view/act-line.ts'
import { Badge } from '../../parts/badge.tsx'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, showUnread } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import type { Child, View } from '../../parts/view.ts'
import { aboutWorkspace, useOperator } from '../../wire/resource.ts'

export function ActsTab(): View {
  const acts = useOperator('GET /acts', {}, aboutWorkspace)
  const items = acts.value?.items
  if (!items) return showUnread(acts)
  if (items.length === 0) return <EmptyState icon="admin" title="Nobody did anything that is recorded." />
  return (
    <Table label="Acts" heads={['When', 'Who', 'Did', 'From']}>
      {items.map((act) => (
        <tr key={act.seq}>
          <td class="when">
            <Age at={act.at} />
            <span class="sub">no. {act.seq}</span>
          </td>
          <td>
            {describeActor(act)}
            <span class="sub">{safeText(act.proof)}</span>
          </td>
          <td class="wide">
            {act.refused !== null && <Badge tone="bad" icon="cross" text="refused" />} {nameAct(act)}
            {act.reason !== null && <span class="sub">{safeText(act.reason)}</span>}
            {describeChange(act)}
          </td>
          <td class="dim">
            {act.channel}
            {act.address !== null && <span class="sub">{safeText(act.address)}</span>}
          </td>
        </tr>
      ))}
    </Table>
  )
}

/** Characters of a value: `svc log acts --json` has all. */
const MAX_SHOWN = 200

const describeChange = ({ before, after }: ActView): Child =>
  (before !== null || after !== null) && (
    <code class="sub">
      {before !== null && `${cutText(safeJson(before), MAX_SHOWN).text} → `}
      {cutText(safeJson(after), MAX_SHOWN).text}
    </code>
  )
