/** The agents of the workspace. */
import { safeText } from '../../base/escape-text.ts'
import { html, type View } from '../parts/html.ts'
import { Age } from '../parts/moments.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { Pauses } from '../steer/pauses.ts'
import { callOperator } from '../wire/request.ts'
import { useResource } from '../wire/resource.ts'

export const hrefOfAgent = (name: string): string => `/agents/${encodeURIComponent(name)}`

export function AgentsScreen(): View {
  const agents = useResource('agents usage', () => callOperator('GET /agents', { query: { usage: 'true' } }))
  const items = agents.value.value?.items
  return html`
    <section class="screen">
      <header class="screen-head"><h1>Agents</h1></header>
      <${Pauses} />
      <${ErrorNote} error=${agents.error.value} />
      ${
        items === undefined
          ? html`<${Loading} />`
          : items.length === 0
            ? html`<${EmptyState} icon="agents" title="No agent is published."><p class="dim"><code>svc publish --deploy</code> publishes one.</p></${EmptyState}>`
            : html`
                <div class="table-wrap" role="region" aria-label="Agents" tabindex="0">
                  <table class="table">
                    <thead>
                      <tr>
                        <th scope="col">Agent</th>
                        <th scope="col">Deployed</th>
                        <th scope="col" class="num">Runs today</th>
                        <th scope="col" class="num">Waiting</th>
                        <th scope="col">Last run</th>
                        <th scope="col">Tools</th>
                      </tr>
                    </thead>
                    <tbody>
                      ${items.map(
                        (agent) => html`
                          <tr key=${agent.agentId}>
                            <td class="agent"><a href=${hrefOfAgent(agent.name)}>${safeText(agent.name)}</a></td>
                            <td>
                              ${agent.deployed ? safeText(agent.deployed.versionLabel) : html`<span class="dim">not deployed</span>`}
                            </td>
                            <td class="num">${agent.runsToday ?? 0}</td>
                            <td class="num">${agent.waiting ?? 0}</td>
                            <td class="when">${agent.lastRunAt ? html`<${Age} at=${agent.lastRunAt} />` : 'never'}</td>
                            <td class="preview">${safeText(agent.tools.join(', '))}</td>
                          </tr>
                        `,
                      )}
                    </tbody>
                  </table>
                </div>
              `
      }
    </section>
  `
}
