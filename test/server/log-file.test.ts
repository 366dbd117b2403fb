import { mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRedactor } from '../../src/base/secret.ts'
import { openLogFile } from '../../src/server/log/log-file.ts'
import { readLog } from '../../src/server/log/read-log.ts'
import { removeDirectory } from '../remove-directory.ts'

let directory: string
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), 'svc-log-'))))
afterEach(() => removeDirectory(directory))

const clock = { now: () => Date.UTC(2026, 10, 20), monotonic: () => 0 }
const logs = (): string => join(directory, 'logs')

test('a line is JSON with its time, and no secret in it', () => {
  const redactor = createRedactor()
  redactor.add('hunter2-hunter2')
  const log = openLogFile({ directory, redactor, clock })
  log.write('warn', 'mcp answered', { header: 'Bearer hunter2-hunter2' })
  log.close()
  expect(readFileSync(join(logs(), 'server.log'), 'utf8')).toBe(
    '{"level":"warn","time":"2026-11-20T00:00:00.000Z","header":"Bearer ***","msg":"mcp answered"}\n',
  )
  expect(statSync(join(logs(), 'server.log')).mode & 0o077).toBe(0)
})

test('files are set aside when they are full, and only so many are kept', async () => {
  for (let at = 0; at < 10; at++) {
    // Opened anew each time, as by a server that is restarted.
    const log = openLogFile({ directory, redactor: createRedactor(), clock, maxBytes: 200, files: 3 })
    log.write('info', 'n', { at, filler: 'x'.repeat(50) })
    log.close()
  }
  expect(readdirSync(logs()).sort()).toEqual(['server.1.log', 'server.2.log', 'server.log'])
  for (const name of readdirSync(logs())) expect(statSync(join(logs(), name)).size).toBeLessThanOrEqual(200)
  const read: unknown[] = []
  for await (const line of readLog(directory)) read.push(line['at'])
  expect(read).toEqual([...read].sort((a, b) => Number(a) - Number(b)))
  expect(read.at(-1)).toBe(9)
})

test('who follows gets what comes, across a file that is set aside, each line once', async () => {
  const log = openLogFile({ directory, redactor: createRedactor(), clock, maxBytes: 300, files: 5 })
  const write = (at: number): void => log.write('info', 'n', { at, filler: 'x'.repeat(50) })
  write(0)
  const seen: number[] = []
  const done = (async () => {
    for await (const line of readLog(directory, () => seen.length < 6)) {
      seen.push(Number(line['at']))
      // The next comes when this one was read, so that a file is never set aside unread.
      if (seen.length < 6) write(seen.length)
    }
  })()
  await done
  log.close()
  expect(seen).toEqual([0, 1, 2, 3, 4, 5])
})

test('a disk that takes nothing does not stop the server', () => {
  const log = openLogFile({ directory: '/dev/null', redactor: createRedactor(), clock })
  log.write('error', 'lost')
  expect(() => log.close()).not.toThrow()
})
