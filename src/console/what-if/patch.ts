/** A text and its edit as a patch that `git apply` and `patch -p1` take: one hunk from the first change to the last. */

/** Unchanged lines around a hunk, as tools expect them. */
const CONTEXT = 3

/** Empty where nothing changed. */
export function writePatch(path: string, before: string, after: string): string {
  if (before === after) return ''
  const [a, b] = [linesOf(before), linesOf(after)]
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const from = Math.max(0, start - CONTEXT)
  const kept = Math.min(end, CONTEXT)
  const [oldEnd, newEnd] = [a.length - end + kept, b.length - end + kept]
  const body = [
    ...a.slice(from, start).map((line) => ` ${line}`),
    ...a.slice(start, a.length - end).map((line) => `-${line}`),
    ...b.slice(start, b.length - end).map((line) => `+${line}`),
    ...a.slice(a.length - end, oldEnd).map((line) => ` ${line}`),
  ]
  const range = (length: number): string => (length === 0 ? `${from},0` : `${from + 1},${length}`)
  const head = [`--- a/${path}`, `+++ b/${path}`, `@@ -${range(oldEnd - from)} +${range(newEnd - from)} @@`]
  return `${[...head, ...body].join('\n')}\n`
}

const NO_END = '\n\\ No newline at end of file'

/** Lines without their breaks; the last one says so where it has none, as patches do. */
function linesOf(text: string): string[] {
  if (text === '') return []
  if (text.endsWith('\n')) return text.slice(0, -1).split('\n')
  return `${text}${NO_END}`.split(/\n(?!\\ No newline)/)
}
