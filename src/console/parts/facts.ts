/** Names and values in a line, as far as it goes. */
import { html, type Child, type View } from './html.ts'

export type Fact = readonly [name: string, value: Child]

export const Facts = ({ facts, kind = '' }: { readonly facts: readonly Fact[]; readonly kind?: string }): View => html`
  <dl class="facts ${kind}">
    ${facts.map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>
`
