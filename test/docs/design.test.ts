/** The design pages hold the rules that comments cite: each citation leads to a heading, and each page can be found and read. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rules } from '../../src/documents/rules/index.ts'
import { requirements } from '../api/requirements.ts'
import { anchorsOf, headingsOf } from './page.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

const designPages = readdirSync(join(ROOT, 'docs/design'))
  .map((name) => `docs/design/${name}`)
  .map((path) => ({ path, text: read(path) }))
const anchors = new Map(designPages.map(({ path, text }) => [path, anchorsOf(text)]))

/** Standards and vendors' pages, which stand outside. */
const OUTSIDE =
  /^(?:RFC \d|OpenID |JSON Schema |YAML 1\.2|OpenAI, |Anthropic, |DeepSeek, |(?:[\w-]+\.)+(?:ai|com|dev|io|net|org)\b)/
/** In a comment; elsewhere the word is part of a text that is put together. */
const CITATION = /^[ \t]*(?:\/\*\*?|\*|\/\/|--|.*\/\*\*).*?\bSource:(.*?)(?:\*\/.*)?$/gm

/** Citations of a source text that lead nowhere. */
const unresolvedIn = (text: string): string[] =>
  [...text.matchAll(CITATION)]
    .map(([, cited]) => cited!.trim())
    .filter((cited) => !cited.split('; ').every((each) => OUTSIDE.test(each) || isHeading(each)))

function isHeading(cited: string): boolean {
  const [, page = '', heading = ''] = /^(docs\/design\/[\w-]+\.md)#([\w-]+)$/.exec(cited) ?? []
  return anchors.get(page)?.includes(heading) === true
}

const sources = ['src', 'clients/typescript/src', 'test', 'bench', 'scripts'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|js|mjs|sql|css)$/.test(name) && !/(?:^|\/)(?:node_modules|generated)\//.test(name))
    .map((name) => `${folder}/${name}`),
)

test('every citation of a comment leads to a heading of a design page, or outside', () => {
  const broken = sources.flatMap((path) => unresolvedIn(read(path)).map((cited) => `${path}: ${cited}`))
  expect(broken).toEqual([])
})

test.each([
  ['docs/design/approvals.md#edits', true],
  ['docs/design/lint.md#fixes; RFC 6901', true],
  ['sqlite.org/rescode.html', true],
  ['docs/design/approvals.md#no-such-heading', false],
  ['docs/design/no-such-page.md#edits', false],
  ['docs/design/approvals.md', false],
  ['decisions, section 5.', false],
  // Its line ends before the citation.
  ['', false],
])('whether a citation leads somewhere is found: %s', (cited, leads) => {
  const word = 'Source:'
  const comments = [`/** Ends. ${word} ${cited} */`, ` * ${word} ${cited}`, `  // Ends. ${word} ${cited}`]
  expect(comments.map((comment) => unresolvedIn(comment).length)).toEqual(comments.map(() => (leads ? 0 : 1)))
})

/** The public documents that rules of lint cite, by the page that has their sections. */
const PUBLIC: Readonly<Record<string, string>> = {
  'Authoring format': 'docs/design/authoring-format.md',
  'HTTP API': 'docs/design/http.md',
}

test('every section that a rule of lint cites is a heading of the page about its document', () => {
  const broken = rules.flatMap(({ name, source = '' }) => {
    const page = PUBLIC[/^[A-Za-z ]+/.exec(source)?.[0] ?? '']
    const headings = page === undefined ? [] : headingsOf(read(page)).map((title) => title.toLowerCase())
    const sections = page === undefined ? [] : source.split('; ').flatMap(sectionsOf)
    return sections.filter((title) => !headings.includes(title.toLowerCase())).map((title) => `${name}: ${title}`)
  })
  expect(broken).toEqual([])
})

/** Before the colon stand sections, behind it what they say. */
const sectionsOf = (source: string): string[] =>
  [...source.replace(/: .*/, '').matchAll(/"([^"]+)"/g)].map(([, title]) => title!)

test('the pages about the public documents name each of their requirements', () => {
  const text = Object.values(PUBLIC).map(read).join('\n')
  expect(Object.keys(requirements).filter((id) => !text.includes(`\`${id}\``))).toEqual([])
})

describe.each(designPages)('$path', ({ path, text }) => {
  test('is linked from the index of the documentation', () => {
    expect(read('docs/README.md')).toContain(`](${path.replace('docs/', '')})`)
  })

  test('has a drawing and a worked example', () => {
    expect(text).toMatch(/^```(?:text|mermaid)$/m)
    expect(headingsOf(text)).toContain('Example')
  })
})
