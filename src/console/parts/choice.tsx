/** One of some values, under a name. */
import { safeText } from '../../base/text/escape-text.ts'
import type { View } from './view.ts'
import { takeText } from './input.ts'

/** Each value, and the text that stands for it. */
export type ChoiceOptions = readonly (readonly [value: string, text: string])[]

export function Choice({
  label,
  value,
  options,
  onChoose,
}: {
  readonly label: string
  readonly value: string
  readonly options: ChoiceOptions
  readonly onChoose: (value: string) => void
}): View {
  const known = value === 'all' ? '' : value
  return (
    <label class="choice-of">
      <span class="dim">{label} </span>
      <select value={known} onChange={takeText(onChoose)}>
        {options.map(([each, text]) => (
          <option key={each} value={each} selected={each === known}>
            {safeText(text)}
          </option>
        ))}
      </select>
    </label>
  )
}
