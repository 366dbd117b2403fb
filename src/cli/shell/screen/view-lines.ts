/** Shows lines that are more than a screen, page by page, and knows which of them were on it: another program would not tell. */

/** How many lines, from the first one on and without a gap, were on the screen. */
export interface SeenLines {
  readonly seen: number
  readonly total: number
}

export interface Viewport {
  /** The lines as they fit the terminal now. */
  readonly layout: () => readonly string[]
  /** Rows that the lines have. */
  readonly rows: () => number
  readonly draw: (lines: readonly string[], scroll: number, footer: string) => void
  /** One of the keys; undefined where the size of the terminal has changed. */
  readonly key: (keys: readonly string[]) => Promise<string | undefined>
}

const LEAVE: ReadonlySet<string> = new Set(['q', 'Escape', 'v', 'c'])
const MOVE = ['j', 'k', 'Down', 'Up', 'Enter', ' ', 'PageDown', 'b', 'PageUp', 'g', 'Home', 'G', 'End'] as const

/**
 * Shows the lines until the person leaves them. They begin again at the top where the width of the terminal changes, since
 * other lines are seen then.
 * @param before what was seen of these lines earlier: the view goes on there
 */
export async function viewLines({ layout, rows, draw, key }: Viewport, before?: SeenLines): Promise<SeenLines> {
  let lines = layout()
  let seen = before?.total === lines.length ? before.seen : 0
  let scroll = seen === lines.length ? 0 : Math.max(0, seen - 1)
  for (;;) {
    scroll = Math.max(0, Math.min(scroll, lines.length - rows()))
    const end = Math.min(lines.length, scroll + rows())
    if (scroll <= seen) seen = Math.max(seen, end)
    draw(lines, scroll, describePlace({ seen, total: lines.length }, scroll + 1, end))
    const typed = await key([...MOVE, ...LEAVE])
    if (typed === undefined) {
      const again = layout()
      if (again.join('\n') === lines.join('\n')) continue
      lines = again
      seen = 0
      scroll = 0
    } else if (LEAVE.has(typed)) return { seen, total: lines.length }
    else scroll += stepOf(typed as (typeof MOVE)[number], rows(), lines.length)
  }
}

const stepOf = (key: (typeof MOVE)[number], rows: number, total: number): number =>
  ({
    j: 1,
    Down: 1,
    Enter: 1,
    k: -1,
    Up: -1,
    ' ': rows,
    PageDown: rows,
    b: -rows,
    PageUp: -rows,
    g: -total,
    Home: -total,
    G: total,
    End: total,
  })[key]

/** `1–38 of 2,000   Space more  q back`; behind a jump it says what was left out. */
function describePlace({ seen, total }: SeenLines, first: number, last: number): string {
  const place = `${first}–${last} of ${total.toLocaleString('en')}`
  const skipped = seen < total ? `${describeSeen({ seen, total })}  ` : ''
  const next = last < total ? 'Space more  ' : skipped
  return `${place}  ${next}q back`
}

/** `40 of 2,000 lines seen` */
export const describeSeen = ({ seen, total }: SeenLines): string =>
  `${seen.toLocaleString('en')} of ${total.toLocaleString('en')} lines seen`
