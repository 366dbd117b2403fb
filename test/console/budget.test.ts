/** How much a browser loads before it shows the inbox, and for everything. Source: docs/design/console.md#speed */
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'

const BUILT = resolve(import.meta.dirname, '../../dist/console')

const gzipped = (name: string): number => gzipSync(readFileSync(resolve(BUILT, name))).length

/** A file and what it imports before it runs. */
function withImports(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, from] of readFileSync(resolve(BUILT, name), 'utf8').matchAll(/(?:from|import)"\.\/([^"]+)"/g))
    withImports(from!, found)
  return found
}

test('the page starts with at most 35 KB of script and 8 KB of style, compressed', () => {
  const start = [...withImports('console.js')]
  expect(start.reduce((sum, name) => sum + gzipped(name), 0)).toBeLessThanOrEqual(35 * 1024)
  expect(gzipped('style.css')).toBeLessThanOrEqual(8 * 1024)
})

/** Files of screens that most people never open. */
const isApart = (name: string): boolean => /^(?:what-if|eval|graph|passkey|admin)-screen-/.test(name)

/** Those that bring a library, and evals. */
const isSeldom = (name: string): boolean => /^(?:what-if|eval|graph)-screen-/.test(name)

const weighAllBut = (isLeftOut: (name: string) => boolean): number =>
  readdirSync(BUILT)
    .filter((name) => name.endsWith('.js') && !isLeftOut(name))
    .reduce((sum, name) => sum + gzipped(name), 0)

test('all of its script but editor, graph, evals, passkeys and administration has at most 60 KB, compressed', () => {
  expect(weighAllBut(isApart)).toBeLessThanOrEqual(60 * 1024)
})

test('with passkeys and administration it has at most 66 KB, compressed', () => {
  expect(weighAllBut(isSeldom)).toBeLessThanOrEqual(66 * 1024)
})

test('the editor is loaded by no screen but the one that has it', () => {
  const names = readdirSync(BUILT).filter((name) => name.endsWith('.js') && !name.startsWith('what-if-screen-'))
  const loading = names.filter((name) => readFileSync(resolve(BUILT, name), 'utf8').includes('./what-if-screen-'))
  expect(loading.map((name) => name.replace(/-[A-Z0-9]+\.js$/, ''))).toEqual(['console.js'])
  expect([...withImports('console.js')].filter(isApart)).toEqual([])
})
