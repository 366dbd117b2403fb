/** The values of a card, fenced and whole. What is long is folded; which folds were opened is remembered for the decision. */
import { safeText } from '../../base/escape-text.ts'
import type { CardValue } from '../../spec/view/task-card.ts'
import { html, type View } from '../parts/html.ts'

/** A text longer than this is folded, as is one of more lines. */
const SHOWN_CHARACTERS = 600
const SHOWN_LINES = 12

export const isFolded = ({ text, lines = [] }: CardValue): boolean =>
  text.length > SHOWN_CHARACTERS || lines.length > SHOWN_LINES

export function CardValues({
  label,
  values,
  opened,
  onOpen,
}: {
  readonly label: string
  readonly values: readonly CardValue[]
  /** Places of the values that were unfolded. */
  readonly opened: ReadonlySet<string>
  readonly onOpen: (place: string) => void
}): View {
  if (values.length === 0) return html`<p class="dim">no arguments</p>`
  return html`
    <dl class="values">
      ${values.map((value, at) => {
        const place = `${label}/${at}`
        return html`<${OneValue}
          key=${place}
          value=${value}
          isOpen=${!isFolded(value) || opened.has(place)}
          onOpen=${() => onOpen(place)}
        />`
      })}
    </dl>
  `
}

function OneValue({
  value,
  isOpen,
  onOpen,
}: {
  readonly value: CardValue
  readonly isOpen: boolean
  readonly onOpen: () => void
}): View {
  const { name, unit, limit, place, weights = [] } = value
  const whole = value.lines ? value.lines.join('\n') : value.text
  const shown = isOpen ? whole : `${cutLines(whole)}…`
  return html`
    <div class="value ${weights.join(' ')}">
      ${name !== '' && html`<dt>${name}</dt>`}
      <dd>
        <span class=${value.lines ? 'value-text block' : 'value-text'}>${shown}</span>
        ${unit !== undefined && html`<span class="value-unit">${unit}</span>`}
        ${
          limit !== undefined &&
          html`<span class="value-limit"
            ><span aria-hidden="true">← </span
            >${limit}${place !== undefined && html`<span class="place">${place}</span>`}</span
          >`
        }
        ${
          !isOpen &&
          html`<button type="button" class="link fold" onClick=${onOpen}>
            Show all ${whole.length.toLocaleString('en')} characters
          </button>`
        }
      </dd>
    </div>
  `
}

const cutLines = (text: string): string => text.split('\n', SHOWN_LINES).join('\n').slice(0, SHOWN_CHARACTERS)

/** The old and the new value of each argument that was edited. */
export const ArgumentChanges = ({
  changes,
}: {
  readonly changes: readonly { readonly name: string; readonly before?: string; readonly after?: string }[]
}): View => html`
  <div class="changes" role="table" aria-label="What you change">
    ${changes.map(
      ({ name, before, after }) => html`
        <div class="change" role="row" key=${name}>
          <span role="rowheader" class="change-name">${safeText(name)}</span>
          ${before !== undefined && html`<del role="cell"><span class="sign" aria-hidden="true">−</span>${before}</del>`}
          ${after !== undefined && html`<ins role="cell"><span class="sign" aria-hidden="true">+</span>${after}</ins>`}
        </div>
      `,
    )}
  </div>
`
