/** What a terminal showed over time as one SVG that plays again and again; without animation it shows the end. */
import { drawLine, drawPicture, rowTop, splitStyled, type PictureTheme, type StyledRun } from './svg.ts'

/** The whole screen, from `atMs` until the next frame. */
export interface TerminalFrame {
  readonly atMs: number
  readonly lines: readonly string[]
}

/** How long the end is shown before the recording begins again. */
const END_SECONDS = 5

/** The content of one row while it does not change. */
interface RowSpan {
  readonly row: number
  readonly runs: readonly StyledRun[]
  readonly fromMs: number
  /** Absent: until the end. */
  readonly untilMs?: number
}

/** @param frames in the order of time, the first at any time */
export function toAnimatedSvg(
  frames: readonly TerminalFrame[],
  size: { readonly width: number; readonly height: number },
  theme: PictureTheme,
): string {
  const beginMs = frames[0]!.atMs
  const seconds = (ms: number): string => `${((ms - beginMs) / 1000).toFixed(2)}s`
  const lastMs = frames.at(-1)!.atMs
  const clock = `<rect width="0" height="0"><animate id="play" attributeName="x" to="1" begin="0s;play.end" dur="${((lastMs - beginMs) / 1000 + END_SECONDS).toFixed(2)}s"/></rect>`
  const spans = toRowSpans(frames, size.height).flatMap(({ row, runs, fromMs, untilMs }) => {
    const drawn = drawLine(runs, rowTop(row), theme)
    if (drawn.length === 0) return []
    const set = (visibility: string, from: string, until: string): string =>
      `<set attributeName="visibility" to="${visibility}" begin="play.begin${from}" end="${until}"/>`
    return untilMs === undefined
      ? ['<g>', ...(fromMs > beginMs ? [set('hidden', '', `play.begin+${seconds(fromMs)}`)] : []), ...drawn, '</g>']
      : [
          '<g visibility="hidden">',
          set('visible', `+${seconds(fromMs)}`, `play.begin+${seconds(untilMs)}`),
          ...drawn,
          '</g>',
        ]
  })
  return drawPicture([clock, ...spans], size, theme)
}

function toRowSpans(frames: readonly TerminalFrame[], height: number): RowSpan[] {
  const drawn = frames.map(({ lines }) => splitStyled(lines))
  const keyOf = (frame: number, row: number): string => JSON.stringify(drawn[frame]![row] ?? [])
  return Array.from({ length: height }, (_, row) =>
    frames.flatMap(({ atMs }, frame): RowSpan[] => {
      const key = keyOf(frame, row)
      if (frame > 0 && keyOf(frame - 1, row) === key) return []
      const next = frames.findIndex((_, later) => later > frame && keyOf(later, row) !== key)
      const span = { row, runs: drawn[frame]![row] ?? [], fromMs: atMs }
      return [next < 0 ? span : { ...span, untilMs: frames[next]!.atMs }]
    }),
  ).flat()
}
