/**
 * The values of a card, fenced and whole. What is long is folded; which folds were opened, and shown to their end, is
 * remembered for the decision.
 */
import { useEffect, useRef } from 'preact/hooks'
import { cutText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { CardValue } from '../../view/task/card-values.ts'
import type { View } from '../parts/view.ts'

/** A text longer than this is folded, as is one of more lines. */
const SHOWN_CHARACTERS = 600
const SHOWN_LINES = 12

export const isFolded = ({ text, lines = [] }: CardValue): boolean =>
  text.length > SHOWN_CHARACTERS || lines.length > SHOWN_LINES

/** Long values that were unfolded, by their place: true once their end was on the screen. */
export type OpenedValues = ReadonlyMap<string, boolean>
export type OnOpen = (place: string, isRead: boolean) => void

export function CardValues({
  label,
  values,
  opened,
  onOpen,
}: {
  readonly label: string
  readonly values: readonly CardValue[]
  readonly opened: OpenedValues
  readonly onOpen: OnOpen
}): View {
  if (values.length === 0) return <p class="dim">no arguments</p>
  return (
    <dl class="values">
      {values.map((value, at) => {
        const place = `${label}/${at}`
        return (
          <OneValue
            key={place}
            value={value}
            isRead={!isFolded(value) || opened.get(place)}
            onOpen={(isRead: boolean) => onOpen(place, isRead)}
          />
        )
      })}
    </dl>
  )
}

function OneValue({
  value,
  isRead,
  onOpen,
}: {
  readonly value: CardValue
  /** Undefined while it is folded. */
  readonly isRead: boolean | undefined
  readonly onOpen: (isRead: boolean) => void
}): View {
  const { name, unit, limit, place, weights = [] } = value
  const whole = value.lines ? value.lines.join('\n') : value.text
  const shown = isRead !== undefined ? whole : `${cutLines(whole)}…`
  return (
    <div class={`value ${weights.join(' ')}`}>
      {name !== '' && <dt>{name}</dt>}
      <dd>
        <span class={value.lines ? 'value-text block' : 'value-text'}>
          {shown}
          {isRead === false && <ValueEnd onSeen={() => onOpen(true)} />}
        </span>
        {unit !== undefined && <span class="value-unit">{unit}</span>}
        {limit !== undefined && (
          <span class="value-limit">
            <span aria-hidden="true">← </span>
            {limit}
            {place !== undefined && <span class="place">{place}</span>}
          </span>
        )}
        {isRead === undefined && (
          <button type="button" class="link fold" onClick={() => onOpen(false)}>
            Show all {whole.length.toLocaleString('en')} characters
          </button>
        )}
      </dd>
    </div>
  )
}

/** Stands below the last line of a value, and tells when it comes onto the screen. */
function ValueEnd({ onSeen }: { readonly onSeen: () => void }): View {
  const end = useRef<HTMLElement>(null)
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) onSeen()
    })
    observer.observe(end.current!)
    return () => observer.disconnect()
  }, [])
  return <span class="value-end" ref={end}></span>
}

const cutLines = (text: string): string => cutText(text.split('\n', SHOWN_LINES).join('\n'), SHOWN_CHARACTERS).text

/** The old and the new value of each argument that was edited. */
export const ArgumentChanges = ({
  changes,
}: {
  readonly changes: readonly { readonly name: string; readonly before?: string; readonly after?: string }[]
}): View => (
  <div class="changes" role="table" aria-label="What you change">
    {changes.map(({ name, before, after }) => (
      <div class="change" role="row" key={name}>
        <span role="rowheader" class="change-name">
          {safeText(name)}
        </span>
        {before !== undefined && (
          <del role="cell">
            <span class="sign" aria-hidden="true">
              −
            </span>
            {before}
          </del>
        )}
        {after !== undefined && (
          <ins role="cell">
            <span class="sign" aria-hidden="true">
              +
            </span>
            {after}
          </ins>
        )}
      </div>
    ))}
  </div>
)
