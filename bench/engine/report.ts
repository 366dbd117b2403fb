/** Figures as they are found, the tables they make, and the goals they are held to. */

export interface Report {
  /** @param column whose figure it is: a process, or a size */
  note(part: string, figure: string, column: string, value: number): void
  /** Median of what was noted; NaN when nothing was. */
  of(part: string, figure: string, column: string): number
  print(write: (line: string) => void): void
}

export function createReport(): Report {
  const parts = new Map<string, Map<string, Map<string, number[]>>>()
  const of = (part: string, figure: string, column: string): number =>
    percentile(parts.get(part)?.get(figure)?.get(column) ?? [], 0.5)
  return {
    note(part, figure, column, value) {
      const figures = parts.get(part) ?? new Map<string, Map<string, number[]>>()
      const columns = figures.get(figure) ?? new Map<string, number[]>()
      parts.set(part, figures.set(figure, columns.set(column, [...(columns.get(column) ?? []), value])))
    },
    of,
    print(write) {
      for (const [part, figures] of parts) {
        const columns = [...new Set([...figures.values()].flatMap((each) => [...each.keys()]))]
        const widths = columns.map((column) => Math.max(10, column.length + 3))
        write('')
        write(part.padEnd(FIGURE) + columns.map((column, at) => column.padStart(widths[at]!)).join(''))
        for (const [figure, values] of figures) {
          const cells = columns.map((column, at) =>
            (values.has(column) ? shown(of(part, figure, column)) : '').padStart(widths[at]!),
          )
          write(`  ${figure}`.padEnd(FIGURE) + cells.join(''))
        }
      }
    },
  }
}

const FIGURE = 48
const shown = (value: number): string => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)

export const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN

export interface Goal {
  readonly name: string
  readonly value: number
  readonly sign: '<=' | '>='
  readonly bound: number
}

/** Prints each goal whose figures were found, and answers how many were missed. */
export function judge(goals: readonly Goal[], write: (line: string) => void): number {
  const found = goals.filter(({ value }) => !Number.isNaN(value))
  const isMet = ({ value, sign, bound }: Goal): boolean => (sign === '<=' ? value <= bound : value >= bound)
  if (found.length > 0) write('')
  for (const goal of found) {
    const { name, value, sign, bound } = goal
    write(`${isMet(goal) ? 'met   ' : 'MISSED'} ${name.padEnd(66)} ${shown(value).padStart(8)} ${sign} ${bound}`)
  }
  return found.filter((goal) => !isMet(goal)).length
}
