import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { commandTable } from '../src/cli/table/table.ts'

const root = resolve(import.meta.dirname, '..')
const readme = readFileSync(resolve(root, 'README.md'), 'utf8')
const shell = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map((match) => match[1]!.trimEnd())

test('the README begins with two commands of one line each: one runs the main job, one runs all checks', () => {
  expect(shell.slice(0, 2)).toEqual(['npm ci && node bin/svc.js demo', 'npm ci && npm run check'])
})

test('every svc command of the README is one of the table', () => {
  const used = shell.flatMap((block) =>
    [...block.matchAll(/(?:^|&& )(?:svc|node bin\/svc\.js) ([a-z]+(?: [a-z]+)?)/gm)].map((match) => match[1]!),
  )
  const known = new Set(commandTable.map(({ path }) => path))
  expect(used.filter((words) => !known.has(words) && !known.has(words.split(' ')[0]!))).toEqual([])
  expect(used.length).toBeGreaterThan(8)
})
