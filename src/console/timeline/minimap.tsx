/** All rows of a long timeline as a strip beside it: where something went wrong or waited is seen at once, and gone to. */
import { useEffect, useRef } from 'preact/hooks'
import type { Holder } from '../parts/holder.ts'
import type { View } from '../parts/view.ts'
import type { Timeline, TimelineRow } from './tree.ts'

const WIDTH = 12

/** Of the rows that share a line of the strip, the one that matters most gives its colour. */
const TONES = [
  ['--bad', ({ isError }: TimelineRow) => isError],
  ['--waiting', ({ type }: TimelineRow) => type === 'UserTaskReq'],
  ['--accent', ({ type }: TimelineRow) => type === 'SubAgentCall'],
  ['--line', () => true],
] as const

export function Minimap({
  timeline,
  change,
  height,
  top,
  shown,
  onGo,
}: {
  readonly timeline: Holder<Timeline>
  /** Another number where the timeline is another: only then it is drawn. */
  readonly change: number
  readonly height: number
  /** Of all rows: where those in sight begin, and how many they are. */
  readonly top: number
  readonly shown: number
  /** Puts this place of all rows into the middle. */
  readonly onGo: (share: number) => void
}): View {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => draw(canvas.current!, timeline.current.rows, height), [change, height])
  const go = ({ currentTarget, offsetY, buttons }: PointerEvent & { currentTarget: HTMLElement }): void => {
    if (buttons === 1) onGo(offsetY / currentTarget.clientHeight)
  }
  return (
    <div class="minimap" aria-hidden="true" onPointerDown={go} onPointerMove={go}>
      <canvas ref={canvas} width={WIDTH} height={height}></canvas>
      <i style={{ top: `${top * 100}%`, height: `${shown * 100}%` }}></i>
    </div>
  )
}

function draw(canvas: HTMLCanvasElement, rows: readonly TimelineRow[], height: number): void {
  const strongest = new Uint8Array(height).fill(TONES.length)
  for (const [at, row] of rows.entries()) {
    const line = Math.floor((at / rows.length) * height)
    strongest[line] = Math.min(
      strongest[line]!,
      TONES.findIndex(([, has]) => has(row)),
    )
  }
  const style = getComputedStyle(canvas)
  const colours = TONES.map(([name]) => {
    canvas.style.color = `var(${name})`
    return style.color
  })
  const context = canvas.getContext('2d')!
  context.clearRect(0, 0, WIDTH, height)
  for (const [line, tone] of strongest.entries()) {
    if (tone === TONES.length) continue
    context.fillStyle = colours[tone]!
    context.fillRect(0, line, WIDTH, 1)
  }
}
