/** What a version may do: the decision of each call, and how the agent is told. */
import { safeBlock, safeText } from '../../base/escape-text.ts'
import type { AuthorityRow } from '../../spec/operator/publication.ts'
import { Badge, type Tone } from '../parts/badge.ts'
import { html, type View } from '../parts/html.ts'
import type { IconName } from '../parts/icon.ts'
import { ErrorNote, Loading } from '../parts/states.ts'
import { callOperator } from '../wire/request.ts'
import { useResource } from '../wire/resource.ts'

const EFFECTS: Readonly<Record<AuthorityRow['decision'], readonly [Tone, IconName, string]>> = {
  allow: ['ok', 'check', 'allow'],
  deny: ['bad', 'cross', 'deny'],
  require_approval: ['waiting', 'person', 'needs approval'],
  escalate: ['warn', 'bolt', 'escalates'],
}

export function AuthorityMatrix({ name, version }: { readonly name: string; readonly version: string }): View {
  const matrix = useResource(
    `matrix ${name} ${version}`,
    () => callOperator('GET /matrix', { query: { agent: name, version } }),
    () => false,
  )
  const snapshot = useResource(
    `snapshot ${name} ${version}`,
    () => callOperator('GET /snapshot', { query: { agent: name, version } }),
    () => false,
  )
  const rows = matrix.value.value?.items
  const read = snapshot.value.value
  return html`
    <h2 class="section">What ${safeText(version)} may do</h2>
    <${ErrorNote} error=${matrix.error.value} />
    ${
      rows === undefined
        ? !matrix.error.value && html`<${Loading} rows=${3} />`
        : rows.length === 0
          ? html`<p class="dim">It calls nothing.</p>`
          : html`
              <div class="table-wrap" role="region" aria-label="Authority" tabindex="0">
                <table class="table">
                  <thead>
                    <tr>
                      <th scope="col">Call</th>
                      <th scope="col">Decision</th>
                      <th scope="col">When</th>
                      <th scope="col">By</th>
                    </tr>
                  </thead>
                  <tbody>
                    ${rows.map((row, at) => {
                      const [tone, icon, text] = EFFECTS[row.decision]
                      return html`<tr key=${at}>
                        <td>
                          ${rows[at - 1]?.wire === row.wire ? html`<span class="unseen">${safeText(row.tool)}</span>` : safeText(row.tool)}
                        </td>
                        <td><${Badge} tone=${tone} icon=${icon} text=${text} /></td>
                        <td><code>${safeText(row.when)}</code></td>
                        <td class="dim">${safeText(row.by)}</td>
                      </tr>`
                    })}
                  </tbody>
                </table>
              </div>
            `
    }
    ${
      read &&
      html`
        <h2 class="section">How it is told</h2>
        <dl class="facts">
          <div>
            <dt>Model</dt>
            <dd>${safeText(`${read.model.provider}/${read.model.name}`)}</dd>
          </div>
          <div>
            <dt>Output</dt>
            <dd>${safeText(read.output.format)}</dd>
          </div>
          ${Object.entries(read.limits).map(
            ([limit, value]) =>
              html`<div key=${limit}>
                <dt>${safeText(limit.replaceAll('_', ' '))}</dt>
                <dd>${safeText(String(value))}</dd>
              </div>`,
          )}
        </dl>
        <pre class="text-block">${safeBlock(read.instructions.text)}</pre>
      `
    }
  `
}
