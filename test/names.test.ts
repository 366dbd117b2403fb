import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')
const CLIENT = resolve(SRC, '../clients/typescript/src')
const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) ([A-Za-z0-9_]+)/gm
const ANY_TYPE = /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|class|enum) ([A-Za-z0-9_]+)/gm
const EXPORTED_VALUE = /^export (?:async )?(?:function\*? ?|const )([A-Za-z0-9_]+)/gm

const files = (directory: string): string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    if (statSync(path).isDirectory()) return name === 'generated' || name === 'node_modules' ? [] : files(path)
    return /\.tsx?$/.test(path) ? [path] : []
  })

type SourceTexts = Readonly<Record<string, string>>

/** Names that these texts declare, with the places. */
function declarationsOf(texts: SourceTexts, pattern: RegExp): ReadonlyMap<string, readonly string[]> {
  const places = new Map<string, string[]>()
  for (const [path, text] of Object.entries(texts))
    for (const name of new Set([...text.matchAll(pattern)].map((match) => match[1]!)))
      places.set(name, [...(places.get(name) ?? []), path])
  return places
}

/** Names that more than one of these texts declares, with the places. */
const declaredTwice = (texts: SourceTexts, pattern: RegExp): string[] =>
  [...declarationsOf(texts, pattern)]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)

const textsBelow = (...directories: readonly string[]): SourceTexts =>
  Object.fromEntries(directories.flatMap(files).map((path) => [relative(SRC, path), readFileSync(path, 'utf8')]))

test('an exported type is found by searching for its name: no two files export the same one', () => {
  expect(declaredTwice(textsBelow(SRC, CLIENT), EXPORTED_TYPE)).toEqual([])
})

test('an exported function or constant has one file, except routes, which are named as the method they call', () => {
  const texts = textsBelow(SRC)
  const others = Object.entries(texts).filter(([path]) => !/^server\/(?:routes|operator)\//.test(path))
  expect(declaredTwice(Object.fromEntries(others), EXPORTED_VALUE)).toEqual([])
})

test('at most two type names in a hundred are declared in several files, private ones included', () => {
  const names = [...declarationsOf(textsBelow(SRC, CLIENT), ANY_TYPE).values()]
  expect(names.filter((paths) => paths.length > 1).length / names.length).toBeLessThan(0.02)
})

test('a name that two files declare is reported with both files', () => {
  const texts = {
    'a.ts': 'export interface Row {}\nexport const toRow = 1\n',
    'b.ts': 'export type Row = string\ninterface Cell {}\nexport async function toRow() {}\n',
    'c.ts': 'type Cell = string\nconst toRow = 2\n',
  }
  expect(declaredTwice(texts, EXPORTED_TYPE)).toEqual(['Row: a.ts, b.ts'])
  expect(declaredTwice(texts, ANY_TYPE)).toEqual(['Row: a.ts, b.ts', 'Cell: b.ts, c.ts'])
  expect(declaredTwice(texts, EXPORTED_VALUE)).toEqual(['toRow: a.ts, b.ts'])
})

/** Docstrings right above another docstring: the first stands above the wrong declaration. */
const misplacedIn = (texts: SourceTexts): string[] =>
  Object.entries(texts).flatMap(([path, text]) =>
    [...text.matchAll(/\*\/\n[ \t]*\/\*\*/g)].map(({ index }) => `${path}:${text.slice(0, index).split('\n').length}`),
  )

test('no docstring stands above another one', () => {
  expect(misplacedIn(textsBelow(SRC, CLIENT, import.meta.dirname))).toEqual([])
  expect(misplacedIn({ 'a.ts': '/** Of b. */\n/** Of a. */\nconst a = 1\n' })).toEqual(['a.ts:1'])
})

/** `value!` at the end of an expression; text and comments are left out as far as lines show them. */
const ASSERTION = /[\w)\]]!(?=[.,;:)\]}[\s>]|$)(?!\s*=)/g

const assertionsIn = (text: string): number =>
  text
    .split('\n')
    .filter((line) => !/^\s*(?:\*|\/\/|\/\*)/.test(line))
    .reduce((count, line) => count + (line.match(ASSERTION) ?? []).length, 0)

test('what is known stands in types: assertions that a value is there become fewer', () => {
  const counts = Object.values(textsBelow(SRC)).map(assertionsIn)
  expect(counts.reduce((sum, each) => sum + each, 0)).toBeLessThan(230)
  expect(assertionsIn('const a = list[0]!\nuse(map.get(key)!.name, b!)\n// why!\nif (a !== b) c()\n')).toBe(3)
})

/** `value as unknown as Type`, which checks nothing. */
const DOUBLE_CAST = /\bas unknown as\b/g

const doubleCastsIn = (text: string): number => (text.match(DOUBLE_CAST) ?? []).length

test('what goes to JSON and back is typed in one place: casts that check nothing become fewer', () => {
  const counts = Object.values(textsBelow(SRC, CLIENT)).map(doubleCastsIn)
  expect(counts.reduce((sum, each) => sum + each, 0)).toBeLessThan(14)
  expect(doubleCastsIn('const a = b as unknown as C\nconst d = e as unknown\nf(g as unknown as H)\n')).toBe(2)
})
