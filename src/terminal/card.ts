import type { Canvas } from './screen.ts'
import { safeText } from '../base/text/escape-text.ts'
import { widthOf } from './width.ts'
import { padText, wrapText } from './text.ts'
import type { TextStyle } from './theme.ts'

export interface CardField {
  readonly key: string
  /** Undefined: the field is left out. */
  readonly value: string | undefined
  readonly style?: TextStyle
}

/** One object: on a terminal aligned keys and wrapped values; on a pipe `key<TAB>value` lines. */
export function drawCard(canvas: Canvas, fields: readonly CardField[]): string[] {
  const shown = fields.flatMap((field) =>
    field.value === undefined ? [] : [{ ...field, key: safeText(field.key), value: safeText(field.value) }],
  )
  if (!canvas.isTTY) return shown.map(({ key, value }) => `${key}\t${value}`)
  const keyWidth = Math.max(0, ...shown.map(({ key }) => widthOf(key)))
  return shown.flatMap(({ key, value, style }) =>
    wrapText(value, Math.max(20, canvas.width - keyWidth - 2)).map((line, at) => {
      const left = padText(at === 0 ? key : '', keyWidth + 2)
      return canvas.theme.dim(left) + (style ? style(line) : line)
    }),
  )
}
