import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryFiles } from '../../src/documents/files.ts'
import { lintInParts } from '../../src/documents/lint-parts.ts'
import { lint, type LintOptions } from '../../src/documents/lint.ts'
import { loadFiles } from '../../src/documents/load.ts'
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
