import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import * as fc from 'fast-check'
import { parseEvents } from 'js-yaml'
import { afterAll, expect, test } from 'vitest'

const { rewritten } = (await import(pathToFileURL(resolve('scripts/rewrites.js')).href)) as {
  readonly rewritten: (path: string, source: string) => string
}
const path = fileURLToPath(import.meta.resolve('js-yaml')).replace(/[^/]+$/, 'js-yaml.mjs')
const original = readFileSync(path, 'utf8')

const home = mkdtempSync(join(tmpdir(), 'svc-fast-parser-'))
afterAll(() => rmSync(home, { recursive: true }))
writeFileSync(join(home, 'parser.mjs'), rewritten(path, original).replace(/^\/\/# sourceMappingURL=.*$/m, ''))
const fast = (await import(pathToFileURL(join(home, 'parser.mjs')).href)) as {
  readonly parseEvents: typeof parseEvents
}

/** What a parser says of a text: its events, or why there are none, and where. */
function said(parse: typeof parseEvents, text: string): unknown {
  try {
    return parse(text, { maxDepth: 12 })
  } catch (error) {
    const { message, mark } = error as Error & { readonly mark?: { readonly position: number } }
    return { message, position: mark?.position }
  }
}

test('the parser of the program says of any text what js-yaml says', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'a',
      'key: ',
      ': ',
      '- ',
      '? ',
      '[',
      ']',
      '{',
      '}',
      ',',
      '\n',
      '\n  ',
      '\n    ',
      '\t',
      '\r\n',
      '1.5',
    ),
    fc.constantFrom('"', "'", '"b" ', '&a ', '*a ', '!t ', '!!str ', '!<x> ', '! ', '| ', '>-\n', '# c', '\uFEFF'),
    fc.constantFrom('---\n', '...\n', '%YAML 1.2\n'),
  )
  const texts = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(texts, (text) => {
      expect(said(fast.parseEvents, text)).toEqual(said(parseEvents, text))
    }),
    { numRuns: 5000 },
  )
})

test('and of every document of the examples and templates', () => {
  const files = ['examples', 'templates'].flatMap((room) =>
    readdirSync(room, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.ya?ml$/.test(name))
      .map((name) => join(room, name)),
  )
  expect(files.length).toBeGreaterThan(20)
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    expect(said(fast.parseEvents, text)).toEqual(said(parseEvents, text))
  }
})

test('a parser that is written in another way is refused', () => {
  expect(() =>
    rewritten('/js-yaml/dist/js-yaml.mjs', original.replaceAll('const propertyState', 'const before')),
  ).toThrow(/^\/js-yaml\/dist\/js-yaml\.mjs has 0 places like /)
})
