/** Names and values in a line, as far as it goes. */
import type { Child, View } from './view.ts'

export type Fact = readonly [name: string, value: Child]

export const Facts = ({ facts, kind = '' }: { readonly facts: readonly Fact[]; readonly kind?: string }): View => (
  <dl class={`facts ${kind}`}>
    {facts.map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
)
