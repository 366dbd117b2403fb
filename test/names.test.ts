import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const SRC = resolve(import.meta.dirname, '../src')
const CLIENT = resolve(SRC, '../clients/typescript/src')
const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) ([A-Za-z0-9_]+)/gm

const files = (directory: string): string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    if (statSync(path).isDirectory()) return name === 'generated' ? [] : files(path)
    return path.endsWith('.ts') ? [path] : []
  })

/** Names that more than one of these texts exports as a type, with the places. */
function declaredTwice(texts: Readonly<Record<string, string>>): string[] {
  const places = new Map<string, string[]>()
  for (const [path, text] of Object.entries(texts))
    for (const name of new Set([...text.matchAll(EXPORTED_TYPE)].map((match) => match[1]!)))
      places.set(name, [...(places.get(name) ?? []), path])
  return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(', ')}`)
}

test('an exported type is found by searching for its name: no two files export the same one', () => {
  const texts = Object.fromEntries(
    [SRC, CLIENT].flatMap(files).map((path) => [relative(SRC, path), readFileSync(path, 'utf8')]),
  )
  expect(declaredTwice(texts)).toEqual([])
})

test('a name that two files export is told with both', () => {
  const texts = { 'a.ts': 'export interface Row {}\n', 'b.ts': 'export type Row = string\ninterface Cell {}\n' }
  expect(declaredTwice(texts)).toEqual(['Row: a.ts, b.ts'])
})
