/** Lines with ANSI styles as an SVG picture of a terminal. Understands the styles that `src/terminal` writes. */

export type PictureTheme = 'dark' | 'light'

const COLORS = {
  dark: { background: '#1e1e1e', text: '#d4d4d4', dim: '#8a8a8a' },
  light: { background: '#ffffff', text: '#1f2328', dim: '#6e7781' },
} as const

const FONT_SIZE = 14
const CELL_WIDTH = 8.43
const CELL_HEIGHT = 19
const MARGIN = 14

interface CellStyle {
  readonly color?: string
  readonly bold?: boolean
  readonly dim?: boolean
  readonly inverse?: boolean
  readonly underline?: boolean
}

/** @param lines at most `width` columns each, in true colour */
export function toSvg(lines: readonly string[], width: number, theme: PictureTheme): string {
  return drawPicture(
    splitStyled(lines).flatMap((runs, row) => drawLine(runs, rowTop(row), theme)),
    { width, height: lines.length },
    theme,
  )
}

/** A picture of a terminal. @param size in columns and rows */
export function drawPicture(
  content: readonly string[],
  { width, height }: { readonly width: number; readonly height: number },
  theme: PictureTheme,
): string {
  const { background, text } = COLORS[theme]
  const size = { x: Math.ceil(width * CELL_WIDTH + 2 * MARGIN), y: height * CELL_HEIGHT + 2 * MARGIN }
  const font = `font-family="ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace" font-size="${FONT_SIZE}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.x}" height="${size.y}" viewBox="0 0 ${size.x} ${size.y}" ${font}>`,
    `<rect width="100%" height="100%" rx="8" fill="${background}"/>`,
    `<g fill="${text}" xml:space="preserve">`,
    ...content,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

export const rowTop = (row: number): number => MARGIN + row * CELL_HEIGHT

export function drawLine(runs: readonly StyledRun[], top: number, theme: PictureTheme): string[] {
  let column = 0
  return runs.flatMap(({ text, style }) => {
    const x = round(MARGIN + column * CELL_WIDTH)
    const columns = Array.from(text).length
    column += columns
    if (text.trim() === '' && !style.inverse) return []
    const length = round(columns * CELL_WIDTH)
    const { background, text: plain, dim } = COLORS[theme]
    const color = style.color ?? (style.dim ? dim : plain)
    const box = style.inverse
      ? [`<rect x="${x}" y="${top}" width="${length}" height="${CELL_HEIGHT}" fill="${color}"/>`]
      : []
    const fill = style.inverse ? ` fill="${background}"` : color === plain ? '' : ` fill="${color}"`
    const weight = `${style.bold ? ' font-weight="bold"' : ''}${style.underline ? ' text-decoration="underline"' : ''}`
    return [
      ...box,
      `<text x="${x}" y="${top + 14}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${fill}${weight}>${escapeXml(text)}</text>`,
    ]
  })
}

const round = (value: number): number => Math.round(value * 100) / 100

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll(' ', '\u00a0')

const STYLE = new RegExp(String.raw`(\u001b\[[0-9;]*m)`)

export interface StyledRun {
  readonly text: string
  readonly style: CellStyle
}

/** Runs of one style, line by line; a style goes on in the next line. @throws Error for a sequence that is no style */
export function splitStyled(lines: readonly string[]): StyledRun[][] {
  let style: CellStyle = {}
  return lines.map((line) => {
    const runs: StyledRun[] = []
    for (const piece of line.split(STYLE)) {
      if (piece.startsWith('\u001b')) style = applyCode(style, piece.slice(2, -1))
      else if (piece !== '') runs.push({ text: piece, style })
    }
    return runs
  })
}

function applyCode(style: CellStyle, code: string): CellStyle {
  const [first, , ...rgb] = code.split(';')
  if (first === '38') return { ...style, color: `rgb(${rgb.join(',')})` }
  return code.split(';').reduce(applyAttribute, style)
}

function applyAttribute(style: CellStyle, code: string): CellStyle {
  switch (code) {
    case '':
    case '0':
      return {}
    case '1':
      return { ...style, bold: true }
    case '2':
      return { ...style, dim: true }
    case '4':
      return { ...style, underline: true }
    case '7':
      return { ...style, inverse: true }
    case '22':
      return { ...style, bold: false, dim: false }
    case '24':
      return { ...style, underline: false }
    case '27':
      return { ...style, inverse: false }
    case '49':
      return style
    case '39': {
      const { color: _, ...rest } = style
      return rest
    }
    default: {
      const color = BASIC[code]
      if (color === undefined) throw new Error(`The style ${code} is not drawn.`)
      return { ...style, color }
    }
  }
}

/** The colours by number that libraries for questions write. */
const BASIC: Readonly<Record<string, string>> = {
  '31': '#e03131',
  '32': '#188a42',
  '33': '#c2590a',
  '34': '#1681a8',
  '35': '#b546c8',
  '36': '#1681a8',
  '90': '#8a8a8a',
}
