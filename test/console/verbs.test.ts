/** Whatever the console shows, a command prints: the table of docs/console.md has each route that the page calls. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commandTable } from '../../src/cli/table/table.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PAGE = join(ROOT, 'src/console')

const rows = [
  ...readFileSync(join(ROOT, 'docs/console.md'), 'utf8').matchAll(
    /^\| [^|]+ \| `((?:GET|POST|PATCH) [^`]+)`\s*\| (.+?)\s*\|$/gm,
  ),
].map(([, route, commands]) => ({ route: route!, commands: commands! }))

const called = new Set(
  readdirSync(PAGE, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => [...readFileSync(join(PAGE, name), 'utf8').matchAll(/'((?:GET|POST|PATCH|DELETE) \/[^']+)'/g)])
    .map(([, route]) => route!),
)

test('the table has a line for each route that the page calls', () => {
  expect([...called].filter((route) => !rows.some((row) => row.route === route))).toEqual([])
  expect(called.size).toBeGreaterThan(40)
})

test('each of its lines names commands that exist', () => {
  const known = commandTable.map(({ path }) => path)
  const unknown = rows.flatMap(({ commands }) =>
    [...commands.matchAll(/`svc ([a-z -]+?)(?: -.*?| [A-Z].*?)?`/g)]
      .map(([, name]) => name!)
      .filter((name) => !known.includes(name)),
  )
  expect(unknown).toEqual([])
  expect(rows.filter(({ commands }) => !/`svc |in a terminal/.test(commands))).toEqual([])
})
