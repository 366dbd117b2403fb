/** A time axis that cuts waiting: runs wait for days, and on a straight axis their work would be a hair's breadth. */
import { countLeading } from '../../base/values/collections.ts'

export interface TimeSpan {
  readonly from: number
  readonly to: number
}

/** A cut: at this place of the axis so much time is left out. */
export interface AxisCut extends TimeSpan {
  /** Of the axis, 0 to 1. */
  readonly at: number
  readonly width: number
}

export interface TimeAxis {
  /** Place of a moment, 0 to 1. */
  place(moment: number): number
  readonly cuts: readonly AxisCut[]
}

/** A gap longer than this share of the rest is cut. */
const CUT_SHARE = 0.05
/** Width of a cut on the axis, and of all cuts together at most. */
const CUT_WIDTH = 0.025
const MAX_CUT_WIDTH = 0.4

/** @param spans in which something was done, in any order */
export function createAxis(spans: readonly TimeSpan[]): TimeAxis {
  const busy = mergeSpans(spans)
  if (busy.length === 0) return { place: () => 0, cuts: [] }
  const gaps = busy.flatMap(({ to }, at): TimeSpan[] =>
    busy.slice(at + 1, at + 2).map(({ from }) => ({ from: to, to: from })),
  )
  const cut = new Set(longGaps(busy, gaps))
  const width = cut.size === 0 ? 0 : Math.min(CUT_WIDTH, MAX_CUT_WIDTH / cut.size)
  const kept = lengthOf(busy) + lengthOf(gaps.filter((gap) => !cut.has(gap)))
  // Where nothing took any time, all of it is one moment.
  const perMs = (1 - width * cut.size) / Math.max(kept, 1)
  const pieces: (TimeSpan & { readonly at: number; readonly width: number })[] = []
  const cuts: AxisCut[] = []
  let at = 0
  for (const [index, span] of busy.entries()) {
    const gap = gaps[index - 1]
    if (gap) {
      const piece = { ...gap, at, width: cut.has(gap) ? width : (gap.to - gap.from) * perMs }
      if (cut.has(gap)) cuts.push(piece)
      pieces.push(piece)
      at += piece.width
    }
    const spanWidth = (span.to - span.from) * perMs
    pieces.push({ ...span, at, width: spanWidth })
    at += spanWidth
  }
  return {
    cuts,
    place(moment) {
      const piece = pieces[findLast(pieces, moment)]
      if (!piece) return 0
      const share = piece.to === piece.from ? 0 : Math.min(1, (moment - piece.from) / (piece.to - piece.from))
      return Math.min(1, piece.at + share * piece.width)
    },
  }
}

/** The gaps that are long beside everything that is not cut, longest first. */
function longGaps(busy: readonly TimeSpan[], gaps: readonly TimeSpan[]): readonly TimeSpan[] {
  const sorted = gaps.toSorted((a, b) => a.to - a.from - (b.to - b.from))
  let rest = lengthOf(busy)
  for (const [at, gap] of sorted.entries()) {
    const length = gap.to - gap.from
    if (length > CUT_SHARE * Math.max(rest, 1) && length > SHORTEST_CUT_MS) return sorted.slice(at)
    rest += length
  }
  return []
}

/** Nobody minds a second. */
const SHORTEST_CUT_MS = 1000

const lengthOf = (spans: readonly TimeSpan[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0)

function mergeSpans(spans: readonly TimeSpan[]): readonly TimeSpan[] {
  const merged: { from: number; to: number }[] = []
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    const last = merged.at(-1)
    if (last && from <= last.to) last.to = Math.max(last.to, to)
    else merged.push({ from, to: Math.max(from, to) })
  }
  return merged
}

/** Index of the last piece that begins at or before the moment; -1 before the first. */
const findLast = (pieces: readonly TimeSpan[], moment: number): number =>
  countLeading(pieces, ({ from }) => from <= moment) - 1
