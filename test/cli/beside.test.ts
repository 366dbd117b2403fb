/** Commands that only read, many at once, beside a server and beside a command that holds the data directory. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { lockDirectory } from '../../src/store/sqlite/database/lock.ts'
import { going, svc as run, temporary, type Ran } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const data = join(cwd, '.svc')
const clock = { now: () => Date.parse('2026-11-20T10:00:00Z'), monotonic: () => 0 }
const svc = (argv: readonly string[]): Promise<Ran> => run(argv, { cwd, clock })

const AGENT = 'acme.refund-desk'
const ARGS = '{"amount":180,"order":"A-1","currency":"EUR"}'

/** They need files only. */
const OFFLINE: readonly (readonly string[])[] = [
  ['lint'],
  ['compile'],
  ['policy', 'eval', '--agent', AGENT, '--tool', 'acme.refunds', '--args', ARGS],
  ['policy', 'test'],
  ['bundle', 'tree'],
  ['bundle', 'pack', '-o', 'packed.tgz'],
  ['bundle', 'verify', 'bundle.tgz'],
  ['bundle', 'diff', 'bundle.tgz', '.'],
]

/** They read what was published and run. */
const READING: readonly (readonly string[])[] = [
  ['agents', 'list'],
  ['versions', 'show', `${AGENT}@1.0.0`],
  ['bundle', 'diff', '.', '--against', `${AGENT}@1.0.0`],
  ['publish', '--plan'],
  ['runs', 'list'],
  ['sessions', 'list'],
  ['triggers', 'list'],
  ['keys', 'list'],
  ['files', 'list'],
  ['inbox'],
  ['logs'],
]

const four = (argv: readonly string[]): Promise<Ran[]> => Promise.all([1, 2, 3, 4].map(() => svc(argv)))
/** What each said without a data directory, or alone. */
const alone = new Map<readonly string[], Ran>()

beforeAll(async () => {
  await run(['init', 'shop', '--full'], { cwd: parent })
  await svc(['bundle', 'pack', '-o', 'bundle.tgz'])
  for (const argv of OFFLINE) alone.set(argv, await svc(argv))
})
afterAll(remove)

test('what is only asked leaves the files of the project as they are', async () => {
  writeFileSync(
    join(cwd, 'svc.lock'),
    readFileSync(join(cwd, 'svc.lock'), 'utf8').replace(/"closure_digest": "sha256:./, '$&0'),
  )
  const stale = readFileSync(join(cwd, 'svc.lock'), 'utf8')
  for (const [code, argv] of [
    [0, ['compile', '--matrix']],
    [0, ['compile', '--explain', 'refunds-above-limit']],
    [1, ['compile', '--check']],
    [0, ['bundle', 'tree']],
    [0, ['publish', '--plan']],
  ] as const) {
    expect([argv, (await svc(argv)).code]).toEqual([argv, code])
    expect([argv, readFileSync(join(cwd, 'svc.lock'), 'utf8')]).toEqual([argv, stale])
  }
  expect(await svc(['compile'])).toMatchObject({ code: 0 })
  expect(existsSync(data)).toBe(false)
})

test('reading where nothing was published makes no data directory', async () => {
  for (const argv of [...OFFLINE, ['agents', 'list'], ['runs', 'list'], ['inbox'], ['logs']])
    expect([argv, await svc(argv)]).toMatchObject([argv, { code: 0 }])
  expect(existsSync(data)).toBe(false)
})

describe('where something was published', () => {
  beforeAll(async () => {
    expect(await svc(['publish', '--deploy'])).toMatchObject({ code: 0 })
    for (const argv of READING) alone.set(argv, await svc(argv))
  })

  const eachSaysTheSame = async (reading = READING): Promise<void> => {
    for (const argv of [...OFFLINE, ...reading]) {
      const first = alone.get(argv)!
      expect([argv, first]).toMatchObject([argv, { code: 0 }])
      expect([argv, await four(argv)]).toEqual([argv, [first, first, first, first]])
    }
  }

  test('four at once print the same as one alone, while another command holds the directory', async () => {
    const lock = lockDirectory(data)
    try {
      await eachSaysTheSame()
      // The lock is what they pass by.
      expect(await svc(['deploy', `${AGENT}@1.0.0`, '--yes'])).toMatchObject({ code: 6 })
    } finally {
      lock.release()
    }
  })

  test('commands do the same while a server runs', async () => {
    const server = going(['serve', '--port', '0', '--json'], { cwd })
    await server.line(/"ready"/)
    try {
      // The log is not the same: the server writes it.
      await eachSaysTheSame(READING.filter(([name]) => name !== 'logs'))
    } finally {
      await server.end()
    }
  })
})
