/** What a version may do: the decision of each call, and how the agent is told. */
import { safeBlock, safeText } from '../../../base/escape-text.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { DecisionBadge } from '../../policy/explanation-view.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { showUnread } from '../../parts/states.tsx'
import { aboutNothing, useOperator } from '../../wire/resource.ts'

export function AuthorityMatrix({ name, version }: { readonly name: string; readonly version: string }): View {
  const matrix = useOperator('GET /matrix', { query: { agent: name, version } }, aboutNothing)
  const snapshot = useOperator('GET /snapshot', { query: { agent: name, version } }, aboutNothing)
  const rows = matrix.value?.items
  const read = snapshot.value
  return (
    <>
      <h2 class="section">What {safeText(version)} may do</h2>
      {rows === undefined && showUnread(matrix, 3)}
      {rows?.length === 0 && <p class="dim">It calls nothing.</p>}
      {rows !== undefined && rows.length > 0 && (
        <Table label="Authority" heads={['Call', 'Decision', 'When', 'By']}>
          {rows.map((row, at) => (
            <tr key={at}>
              <td>
                {rows[at - 1]?.wire === row.wire ? (
                  <span class="unseen">{safeText(row.tool)}</span>
                ) : (
                  safeText(row.tool)
                )}
              </td>
              <td>
                <DecisionBadge decision={row.decision} />
              </td>
              <td>
                <code>{safeText(row.when)}</code>
              </td>
              <td class="dim">{safeText(row.by)}</td>
            </tr>
          ))}
        </Table>
      )}
      {read && (
        <>
          <h2 class="section">Instructions and limits</h2>
          <Facts facts={factsOf(read)} />
          <pre class="text-block">{safeBlock(read.instructions.text)}</pre>
        </>
      )}
    </>
  )
}

const factsOf = ({ model, output, limits }: AgentSnapshot): readonly Fact[] => [
  ['Model', safeText(`${model.provider}/${model.name}`)],
  ['Output', safeText(output.format)],
  ...Object.entries(limits).map(([limit, value]): Fact => [
    safeText(limit.replaceAll('_', ' ')),
    safeText(String(value)),
  ]),
]
