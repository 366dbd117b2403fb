import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { open } from './open.ts'
import { requirements } from './requirements.ts'

const TESTS = resolve(import.meta.dirname, '..')

const files = (directory: string): string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? files(path) : path.endsWith('.test.ts') ? [path] : []
  })

const proven = new Set(
  files(TESTS).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^\s*verifies\(\s*'([^']+)'/gm)].map((match) => match[1]!),
  ),
)

test('every sentence of the source documents is proven, or listed as open; who proves one takes it off the list', () => {
  const unproven = Object.keys(requirements).filter((id) => !proven.has(id))
  expect(unproven.sort()).toEqual([...open].sort())
})

test('every proof names a sentence', () => {
  expect([...proven].filter((id) => !(id in requirements))).toEqual([])
})
