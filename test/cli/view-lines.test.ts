/** What counts as seen of a text that is longer than the screen. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { viewLines, type SeenLines } from '../../src/cli/shell/screen/view-lines.ts'

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `line ${at + 1}`)

interface Shown {
  readonly lines: readonly string[]
  readonly footer: string
}

/** A person whose keys are known; they leave at the end. Undefined stands for a change of the terminal's size. */
async function view(
  total: number,
  rows: number,
  keys: readonly (string | undefined)[],
  more: { readonly before?: SeenLines; readonly layout?: () => readonly string[] } = {},
) {
  const typed = [...keys, 'q']
  const shown: Shown[] = []
  const seen = await viewLines(
    {
      layout: more.layout ?? (() => numbered(total)),
      rows: () => rows,
      draw: (lines, scroll, footer) => void shown.push({ lines: lines.slice(scroll, scroll + rows), footer }),
      key: () => Promise.resolve(typed.shift()),
    },
    more.before,
  )
  return { seen, shown }
}

test('the first page alone is not the text', async () => {
  const { seen, shown } = await view(2000, 40, [])
  expect(seen).toEqual({ seen: 40, total: 2000 })
  expect(shown).toEqual([{ lines: numbered(40), footer: '1–40 of 2,000  Space more  q back' }])
})

test('a jump to the end leaves out what is between, and says so', async () => {
  const { seen, shown } = await view(2000, 40, ['G'])
  expect(seen).toEqual({ seen: 40, total: 2000 })
  expect(shown.at(-1)!.footer).toBe('1961–2000 of 2,000  40 of 2,000 lines seen  q back')
})

test('page by page everything is seen', async () => {
  const { seen, shown } = await view(100, 40, [' ', 'PageDown'])
  expect(seen).toEqual({ seen: 100, total: 100 })
  expect(shown.at(-1)!.footer).toBe('61–100 of 100  q back')
})

test('who comes back goes on where they left, unless other lines are shown', async () => {
  const { seen, shown } = await view(100, 40, [' '], { before: { seen: 40, total: 100 } })
  expect(shown[0]!.lines[0]).toBe('line 40')
  expect(seen).toEqual({ seen: 100, total: 100 })
  expect((await view(100, 40, [], { before: { seen: 40, total: 90 } })).seen).toEqual({ seen: 40, total: 100 })
})

test('a terminal of another width shows other lines, from the top', async () => {
  const layouts = [numbered(50), numbered(80)]
  const layout = () => layouts.shift()!
  const { seen, shown } = await view(0, 40, [' ', undefined], { layout })
  expect(shown.at(-1)!.lines[0]).toBe('line 1')
  expect(seen).toEqual({ seen: 40, total: 80 })
})

const keys = fc.array(fc.constantFrom('j', 'k', ' ', 'b', 'g', 'G', 'Enter', 'PageUp'), { maxLength: 40 })

test('as much is seen as was on the screen without a gap from the first line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 1, max: 20 }),
      keys,
      async (total, rows, typed) => {
        const { seen, shown } = await view(total, rows, typed)
        const onScreen = new Set(shown.flatMap(({ lines }) => lines))
        const gap = numbered(total).findIndex((line) => !onScreen.has(line))
        const least = gap < 0 ? total : gap
        // A later page may close a gap only in order: lines behind one that was not seen yet do not count.
        expect(seen.total).toBe(total)
        expect(seen.seen).toBe(typed.includes('G') ? Math.min(seen.seen, least) : least)
      },
    ),
  )
})
