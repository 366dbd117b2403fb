/** Unified diff of two texts, as `diff -u` prints it. */

/** Unchanged lines shown around a change. */
const CONTEXT = 3
/** Above this many changed lines the difference is not minimal: everything between the common ends counts as changed. */
const MAX_CHANGES = 1000

interface DiffLine {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** Ends with a line break; empty when the texts are the same. */
export function unifiedDiff(path: string, before: string, after: string): string {
  if (before === after) return ''
  const lines = compare(linesOf(before), linesOf(after))
  const out = [`--- ${path}`, `+++ ${path}`]
  for (const [from, to] of hunks(lines)) {
    const count = (signs: string, start: number, end: number): number =>
      lines.slice(start, end).filter(({ sign }) => signs.includes(sign)).length
    const side = (signs: string): string => {
      const size = count(signs, from, to)
      const first = count(signs, 0, from) + (size === 0 ? 0 : 1)
      return size === 1 ? `${first}` : `${first},${size}`
    }
    out.push(`@@ -${side(' -')} +${side(' +')} @@`, ...lines.slice(from, to).map(({ sign, text }) => sign + text))
  }
  return `${out.join('\n')}\n`
}

/** Splits lines; a last line without a line break differs from one with it. */
function linesOf(text: string): string[] {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  return last === '' ? lines : [...lines, `${last}\n\\ No newline at end of file`]
}

/** Ranges of lines to show: changes with their context, merged if they touch. */
function hunks(lines: readonly DiffLine[]): [number, number][] {
  const found: [number, number][] = []
  for (const [at, { sign }] of lines.entries()) {
    if (sign === ' ') continue
    const [from, to] = [Math.max(0, at - CONTEXT), Math.min(lines.length, at + 1 + CONTEXT)]
    const last = found.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = to
    else found.push([from, to])
  }
  return found
}

function compare(before: readonly string[], after: readonly string[]): DiffLine[] {
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const same = (text: string): DiffLine => ({ sign: ' ', text })
  return [
    ...before.slice(0, head).map(same),
    ...shortest(before.slice(head, before.length - tail), after.slice(head, after.length - tail)),
    ...before.slice(before.length - tail).map(same),
  ]
}

/** E. W. Myers, "An O(ND) difference algorithm and its variations": the furthest points reached by each number of changes. */
function shortest(a: readonly string[], b: readonly string[]): DiffLine[] {
  const trace: Map<number, number>[] = []
  let reached = new Map<number, number>([[1, 0]])
  for (let changes = 0; changes <= Math.min(a.length + b.length, MAX_CHANGES); changes++) {
    const next = new Map<number, number>()
    for (let k = -changes; k <= changes; k += 2) {
      let x = goesDown(reached, k, changes) ? furthestOn(reached, k + 1) : furthestOn(reached, k - 1) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return retrace(a, b, [...trace, reached])
    }
    trace.push(reached)
    reached = next
  }
  return [...a.map((text): DiffLine => ({ sign: '-', text })), ...b.map((text): DiffLine => ({ sign: '+', text }))]
}

const goesDown = (reached: ReadonlyMap<number, number>, k: number, changes: number): boolean =>
  k === -changes || (k !== changes && furthestOn(reached, k - 1) < furthestOn(reached, k + 1))

/** The furthest point on a diagonal; before the first one where none was reached. */
const furthestOn = (reached: ReadonlyMap<number, number>, k: number): number => reached.get(k) ?? -1

/** Reconstructs the edits from the end. `trace[n]` holds the points reached by n - 1 changes. */
function retrace(
  a: readonly string[],
  b: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
): DiffLine[] {
  const blocks: DiffLine[][] = []
  const take = (sign: DiffLine['sign'], lines: readonly string[], from: number, to: number): void =>
    void blocks.push(lines.slice(from, to).map((text) => ({ sign, text })))
  let [x, y] = [a.length, b.length]
  for (const [changes, reached] of [...trace.entries()].reverse()) {
    const k = x - y
    const from = goesDown(reached, k, changes) ? k + 1 : k - 1
    const fromX = changes === 0 ? 0 : furthestOn(reached, from)
    const fromY = changes === 0 ? 0 : fromX - from
    const same = Math.min(x - fromX, y - fromY)
    take(' ', a, x - same, x)
    x -= same
    y -= same
    if (changes === 0) break
    if (x === fromX) take('+', b, y - 1, y--)
    else take('-', a, x - 1, x--)
  }
  return blocks.reverse().flat()
}
