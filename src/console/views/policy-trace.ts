/** Why a call was held or let through: each policy that was asked, with the values its condition saw. */
import { safeText } from '../../base/escape-text.ts'
import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import { Badge, type Tone } from '../parts/badge.ts'
import { html, type View } from '../parts/html.ts'
import type { IconName } from '../parts/icon.ts'

const RESULTS: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  true: ['waiting', 'check', 'applies'],
  false: ['quiet', 'cross', 'does not apply'],
  unknown: ['warn', 'warning', 'could not be told'],
}

export const PolicyTrace = ({ policies }: { readonly policies: readonly JsonValue[] }): View => html`
  <section class="trace">
    <h3>Policies that were asked</h3>
    <ol>
      ${policies.filter(isJsonObject).map((policy, at) => {
        const text = (name: string): string => (typeof policy[name] === 'string' ? safeText(policy[name]) : '')
        const [tone, icon, word] = RESULTS[text('matched')] ?? (['quiet', 'dot', text('matched')] as const)
        return html`
          <li key=${at} class=${text('matched') === 'false' ? 'off' : ''}>
            <p class="trace-head">
              <b>${text('id')}</b><span class="dim">@${text('version')}</span
              ><${Badge} tone=${tone} icon=${icon} text=${word} />
            </p>
            ${text('condition') !== '' && html`<p><code>${text('condition')}</code></p>`}
            <p class="dim">
              ${text('decision').replaceAll('_', ' ')}${text('reason') !== '' ? `: ${text('reason')}` : ''}
            </p>
            ${text('source') !== '' && html`<p class="place">${text('source')}</p>`}
          </li>
        `
      })}
    </ol>
  </section>
`
