import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryFiles } from '../../src/documents/files.ts'
import { lintInParts } from '../../src/documents/lint-parts.ts'
import { lint, type LintOptions } from '../../src/documents/lint.ts'
import { loadFiles } from '../../src/documents/load.ts'
import { divide } from '../../src/documents/parts.ts'
import { rules } from '../../src/documents/rules/index.ts'
import { complete } from './complete.ts'
import { whole } from './whole.ts'

/** Every file is a part; a few files are; bundles stay whole. */
const SIZES = [
  { few: 1, many: 0 },
  { few: 2, many: 3 },
  { few: 1, many: 1000 },
]
const STRICT: LintOptions = { strict: true }

test('the lines that a report shows are those of the files, which are not read again for them', async () => {
  const long = 'x'.repeat(600)
  const bad = (name: string, text: string): string =>
    `apiVersion: svc/v1\nkind: Tool\nmetadata: { namespace: acme, name: ${name} }\nspec: {}\n# ${text}\nodd: ${text}\n`
  const files = memoryFiles({ 'tools/long.yaml': bad('long', long), 'tools/short.yaml': bad('short', 'told of') })
  const reads: string[] = []
  const counted = {
    ...files,
    readUpTo: (path: string, most: number) => files.readUpTo(path, most),
    read(path: string) {
      reads.push(path)
      return files.read(path)
    },
  }
  const { workspace, findings } = await lintInParts(counted, {}, {}, undefined, SIZES[0])
  const odd = findings
    .filter(({ rule }) => rule === 'doc/unknown-key')
    .map(({ path, range }) => [path, range.start.line])
  expect(odd).toEqual([
    ['tools/long.yaml', 6],
    ['tools/short.yaml', 6],
  ])
  reads.length = 0
  const shown = (path: string): string[] => [5, 6].map((line) => workspace.line(path, line))
  expect(shown('tools/short.yaml')).toEqual(['# told of', 'odd: told of'])
  expect(reads).toEqual([])
  expect(shown('tools/long.yaml')).toEqual([`# ${long}`, `odd: ${long}`])
  expect(reads).toEqual(['tools/long.yaml'])
})

test('signals are heard before all parts are linted', async () => {
  const files = memoryFiles({ 'a.yaml': 'kind: Tool\n', 'b.yaml': 'kind: Tool\n', 'c.yaml': 'kind: Tool\n' })
  const reads: string[] = []
  const counted = {
    ...files,
    readUpTo(path: string, most: number) {
      reads.push(path)
      return files.readUpTo(path, most)
    },
  }
  const heard = new Promise((resolve) => setImmediate(() => resolve([...reads])))
  const linted = lintInParts(counted, {}, {}, undefined, SIZES[0])
  expect(await heard).toEqual(['a.yaml'])
  await linted
  expect(reads).toEqual(['a.yaml', 'b.yaml', 'c.yaml'])
})

test('a bundle is one part, of however many files', () => {
  const paths = ['bundle.yaml', ...Array.from({ length: 200_000 }, (_, at) => `data/${at}.json`)].sort()
  expect(divide(paths, [''])).toEqual([{ paths, isSplit: false }])
})

async function inParts(files: Readonly<Record<string, string>>, options: LintOptions, sizes: (typeof SIZES)[number]) {
  const { findings } = await lintInParts(memoryFiles(files), {}, options, undefined, sizes)
  return findings
}

const examples = rules.flatMap(({ name, bad, good }) =>
  [bad, good]
    .filter((example) => Object.keys(example).length > 0)
    .map((example) => ({ name, files: complete(example) })),
)

describe('a project that is linted part by part has the findings of one that is linted at once', () => {
  test.each(examples)('$name', async ({ files }) => {
    const expected = lint(loadFiles(files), STRICT)
    for (const sizes of SIZES) expect(await inParts(files, STRICT, sizes)).toEqual(expected)
  })

  test('policies that the operator laid over all of them', async () => {
    const guardrails = ['team-1/policies/large-transfer.yaml']
    const options = { guardrails, strict: true }
    const files = Object.fromEntries(
      [1, 2, 3].flatMap((team) => Object.entries(whole).map(([path, text]) => [`team-${team}/${path}`, text])),
    )
    for (const sizes of SIZES) expect(await inParts(files, options, sizes)).toEqual(lint(loadFiles(files), options))
  })

  test('whatever lies beside and above each other', async () => {
    const placed = fc.array(
      fc.record({
        example: fc.nat(examples.length - 1),
        directory: fc.constantFrom('', 'a/', 'a/b/', 'c/'),
        extra: fc.constantFrom('', 'bundle.yaml', 'odd.yaml'),
      }),
      { minLength: 2, maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(placed, fc.constantFrom(...SIZES), async (places, sizes) => {
        const files: Record<string, string> = {}
        for (const { example, directory, extra } of places) {
          for (const [path, text] of Object.entries(examples[example]!.files)) files[`${directory}${path}`] = text
          if (extra !== '') files[`${directory}${extra}`] = whole['bundle.yaml']!
        }
        expect(await inParts(files, {}, sizes)).toEqual(lint(loadFiles(files)))
      }),
      { numRuns: 300 },
    )
  })
})
