/** One of some values, under a name. */
import { safeText } from '../../base/escape-text.ts'
import { html, type View } from './html.ts'
import { takeText } from './input.ts'

export function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
  readonly onChoose: (value: string) => void
}): View {
  const known = value === 'all' ? '' : value
  return html`<label class="choice-of"
    ><span class="dim">${label} </span>
    <select value=${known} onChange=${takeText(onChoose)}>
      ${options.map(([each, text]) => html`<option key=${each} value=${each} selected=${each === known}>${safeText(text)}</option>`)}
    </select>
  </label>`
}
