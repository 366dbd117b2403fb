/** What one version does that another did not, each with a call that shows it. */
import { safeJson, safeText } from '../../base/escape-text.ts'
import type { ChangeView } from '../../spec/operator/publication.ts'
import { Badge } from '../parts/badge.ts'
import { html, type View } from '../parts/html.ts'
import { DECISIONS } from './truth.ts'

export const ChangeList = ({ changes }: { readonly changes: readonly ChangeView[] }): View =>
  changes.length === 0
    ? html`<p class="dim">Nothing changes.</p>`
    : html`
        <ul class="changes-list">
          ${changes.map(
            (change, at) => html`
              <li key=${at} class=${change.widens ? 'wider' : ''}>
                <p>
                  ${change.widens ? html`<${Badge} tone="bad" icon="warning" text="may do more" />` : html`<${Badge} tone="quiet" icon="dot" text=${change.severity} />`}
                  <span>${safeText(change.say)}</span>
                  ${change.path !== null && html`<span class="place">${safeText(change.path)}</span>`}
                </p>
                ${change.witness && html`<p class="witness">for example <code>${safeText(change.witness.tool)} ${safeJson(change.witness.arguments)}</code><span class="dim"> was </span>${wordOf(change.witness.before)}<span class="dim">, is </span><b>${wordOf(change.witness.after)}</b></p>`}
              </li>
            `,
          )}
        </ul>
      `

const wordOf = (decision: string): string => DECISIONS[decision]?.[2] ?? safeText(decision)
