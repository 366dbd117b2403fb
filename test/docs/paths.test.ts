/** The pages for developers name files and directories; each of them exists, and the map of `src/` leaves no directory out. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const SRC = join(ROOT, 'src')
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8')

/** The first of the three, which a formatter may indent. */
const MERGE_MARK = /^ *<<<<<<< /m

const PATH = /`((?:[\w.-]+\/)+[\w.-]*|[\w-]+\/)`/g
/** What looks like a path and is none: libraries, routes, rules, packages, annotations. */
const NO_PATH = new Set(['@svc-agents/cli/client', '@svc-agents/client', 'svc/approval_proof'])

const pathsOf = (text: string): string[] =>
  [...text.matchAll(PATH)].map(([, path]) => path!).filter((path) => !NO_PATH.has(path))

describe('every path that a page names exists', () => {
  const designPages = readdirSync(join(ROOT, 'docs/design')).map((name) => `docs/design/${name}`)
  test.each(['src/README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...designPages])('%s', (page) => {
    const paths = pathsOf(read(page)).filter((path) => !page.includes('design') || /^(?:src|test|bench)\//.test(path))
    expect(paths.length).toBeGreaterThan(page.includes('design') ? 3 : 10)
    expect(paths.filter((path) => !existsSync(join(SRC, path)) && !existsSync(join(ROOT, path)))).toEqual([])
  })
})

test('the map names every directory of src that holds modules', () => {
  const named = new Set(pathsOf(read('src/README.md')))
  const directories = (path: string): string[] => {
    const names = readdirSync(join(SRC, path))
    const below = names.filter((name) => statSync(join(SRC, path, name)).isDirectory())
    const holdsModules = path !== '' && names.some((name) => /\.tsx?$/.test(name))
    return [...(holdsModules ? [path] : []), ...below.flatMap((name) => directories(`${path}${name}/`))]
  }
  // A group of rules is described by `documents/rules/`, a folder of rules each.
  const missing = directories('').filter((path) => !named.has(path) && !path.startsWith('documents/rules/'))
  expect(missing).toEqual([])
})

test('each way through the code has at most fifteen files, and seven files come first', () => {
  const sections = read('src/README.md').split(/^## /m)
  const ways = sections.filter((section) => section.includes('| step'))
  expect(ways.map((way) => way.split('\n')[0])).toEqual([
    'From a document to a snapshot',
    'From a start to an answer',
    'A call of a client',
    'An approval',
    'A publication',
  ])
  for (const way of ways) expect(pathsOf(way).length).toBeLessThanOrEqual(15)
  const first = sections.find((section) => section.startsWith('Read these seven files first'))!
  expect(first.match(/^\d\. `/gm)).toHaveLength(7)
})

test('no page keeps the marks of a merge', () => {
  const folders = ['', 'docs', 'docs/design', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder)).map((name) => join(folder, name)),
  )
  const marked = folders.filter((path) => path.endsWith('.md') && MERGE_MARK.test(read(path)))
  expect(marked).toEqual([])
  expect(MERGE_MARK.test('- one\n<<<<<<< HEAD\n- two')).toBe(true)
})
