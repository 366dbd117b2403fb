import { expect, test } from 'vitest'
import { authorityIn } from '../../src/lsp/authority.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { isLong } from '../cases.ts'
import { whole } from '../documents/whole.ts'

const AGENTS = Object.keys(whole).filter((path) => path.startsWith('agents/'))

/** The whole bundle with each line left out, and with something else where its value stands: what an editor holds while somebody types. */
const broken = Object.entries(whole).flatMap(([path, text]) => {
  const lines = text.split('\n')
  return lines.flatMap((line, at) =>
    [[], [line.replace(/: .*/, ':')], [line.replace(/: .*/, ': 17')], [line.replace(/: .*/, ': [x]')]].map(
      (instead): Record<string, string> => ({ ...whole, [path]: lines.toSpliced(at, 1, ...instead).join('\n') }),
    ),
  )
})

const callsOf = async (files: Readonly<Record<string, string>>): Promise<number> => {
  const workspace = loadFiles(files)
  const found = await Promise.all(AGENTS.map((path) => authorityIn(workspace, path, [])))
  return found.flat().length
}

test('whatever is half written, its calls are told or left out, and nothing fails', async () => {
  const all = await callsOf(whole)
  expect(all).toBeGreaterThan(2)
  const counts: number[] = []
  // All of them in a long run, else every eighth.
  for (const files of broken.filter((_, at) => isLong || at % 8 === 0)) counts.push(await callsOf(files))
  expect(Math.max(...counts)).toBe(all)
  expect(counts.filter((count) => count < all).length).toBeGreaterThan(5)
})
