/** Links to the views of a screen, which are a parameter of its address. */
import { address, withQuery } from '../wire/navigation.ts'
import type { View } from './view.ts'

/** Where not all tabs fit side by side, the chosen one is scrolled to. */
const showWhole = (tab: HTMLElement | null): void => tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' })

export function Tabs({
  label,
  name = 'tab',
  tabs,
  kind = '',
  first = tabs[0]![0],
}: {
  readonly label: string
  /** Of the parameter. */
  readonly name?: string
  /** Shown where the address names none; the first one where absent. */
  readonly first?: string
  readonly tabs: readonly (readonly [value: string, text: string])[]
  /** A further class. */
  readonly kind?: string
}): View {
  const chosen = address.value.query.get(name) ?? first
  return (
    <nav class={`tabs ${kind}`} aria-label={label}>
      {tabs.map(([value, text]) => (
        <a
          key={value}
          href={withQuery({ [name]: value === first ? undefined : value })}
          aria-current={chosen === value ? 'page' : undefined}
          ref={chosen === value ? showWhole : null}
        >
          {text}
        </a>
      ))}
    </nav>
  )
}
