import '../long-lived.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { signalWithin } from '../../src/base/signal-within.ts'
import { waitUntil } from '../wait-until.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('aborts after its time, however often garbage is collected meanwhile', async () => {
  const { signal } = new AbortController()
  const made = Array.from({ length: 100 }, () => signalWithin(50, signal))
  await waitUntil(() => {
    collectGarbage()
    return made.every(({ aborted }) => aborted)
  })
  expect(new Set(made.map(({ reason }) => (reason as Error).name))).toEqual(new Set(['TimeoutError']))
})

test('aborts with the other signal, also where that was before', () => {
  const controller = new AbortController()
  const before = signalWithin(60_000, controller.signal)
  controller.abort('left')
  expect([before.reason, signalWithin(60_000, controller.signal).reason]).toEqual(['left', 'left'])
})

test('nothing combines a time-out with another signal in the way that loses it', () => {
  const root = resolve(import.meta.dirname, '../../src')
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path))
  const combined = /AbortSignal\.any\([^)]*AbortSignal\.timeout\(/
  expect(files.filter((path) => combined.test(readFileSync(join(root, path), 'utf8')))).toEqual([])
  // Negative control.
  expect('AbortSignal.any([signal, AbortSignal.timeout(5)])').toMatch(combined)
})
