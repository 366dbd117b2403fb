/** The agents of the workspace. */
import { safeText } from '../../../base/text/escape-text.ts'
import type { View } from '../../parts/view.ts'
import { Table } from '../../parts/table.tsx'
import { Age } from '../../parts/moments.tsx'
import { EmptyState, ErrorNote, Loading } from '../../parts/states.tsx'
import { Pauses } from '../../steer/pauses.tsx'
import { describeDeployed } from '../../../view/deployed-version.ts'
import { useOperator } from '../../wire/resource.ts'

export const hrefOfAgent = (name: string): string => `/agents/${encodeURIComponent(name)}`

export function AgentsScreen(): View {
  const agents = useOperator('GET /agents', { query: { usage: 'true' } })
  const items = agents.value?.items
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Agents</h1>
      </header>
      <ErrorNote error={agents.error} />
      {items === undefined && !agents.error && <Loading />}
      {items?.length === 0 && (
        <EmptyState icon="agents" title="No agent is published.">
          <p class="dim">
            <code>svc publish --deploy</code> publishes one.
          </p>
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <Table
          label="Agents"
          heads={['Agent', 'Deployed', ['Runs today', 'num'], ['Waiting', 'num'], 'Last run', 'Tools']}
        >
          {items.map((agent) => (
            <tr key={agent.agentId}>
              <td class="agent">
                <a href={hrefOfAgent(agent.name)}>{safeText(agent.name)}</a>
              </td>
              <td>
                {agent.deployed ? safeText(describeDeployed(agent.deployed)) : <span class="dim">not deployed</span>}
              </td>
              <td class="num">{agent.runsToday ?? 0}</td>
              <td class="num">{agent.waiting ?? 0}</td>
              <td class="when">{agent.lastRunAt ? <Age at={agent.lastRunAt} /> : 'never'}</td>
              <td class="preview">{safeText(agent.tools.join(', '))}</td>
            </tr>
          ))}
        </Table>
      )}
      <Pauses />
    </section>
  )
}
