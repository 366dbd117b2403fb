import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, expect, test } from 'vitest'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { NOW, runId, sessionId } from './makers.ts'
import { removeDirectory } from '../remove-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-killed-'))
afterAll(() => removeDirectory(root))

/** Starts sessions concurrently without end, and prints each name as soon as the start is acknowledged. */
const SCRIPT = `
  const [open, makers, path] = process.argv.slice(1)
  const { openSqlite } = await import(open)
  const { aStart, NO_LIMITS } = await import(makers)
  const store = openSqlite(path, { clock: { now: () => 0, monotonic: () => 0 } })
  const work = async (worker) => {
    for (let count = 0; ; count++) {
      await store.start(aStart(worker + '-' + count), NO_LIMITS)
      process.stdout.write(worker + '-' + count + '\\n')
    }
  }
  ;['a', 'b', 'c', 'd'].map(work)`

test('keeps whole every start that was acknowledged before the process was killed', async () => {
  const path = join(root, 'data.db')
  const files = ['../../src/store/sqlite/open.ts', './makers.ts'].map((file) => resolve(import.meta.dirname, file))
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SCRIPT, ...files, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const acknowledged: string[] = []
  for await (const name of createInterface({ input: child.stdout })) {
    acknowledged.push(name)
    if (acknowledged.length === 500) child.kill('SIGKILL')
  }
  await exited
  expect(acknowledged.length).toBeGreaterThanOrEqual(500)

  const store = openSqlite(path, { clock: { now: () => NOW, monotonic: () => NOW } })
  for (const name of acknowledged) {
    expect((await store.load(sessionId(name)))?.runs.map(({ id }) => id)).toEqual([runId(name)])
    expect((await store.events(sessionId(name), 0, 10)).map(({ seq }) => seq)).toEqual([1, 2])
  }
  await store.close()
})
