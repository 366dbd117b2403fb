/** A server on a disk without room: it says which directory and what to do, and never begins something that it cannot keep. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { fail } from '../../src/base/failure.ts'
import { openServer } from '../../src/server/open.ts'
import { databaseFailure } from '../../src/store/sqlite/database/unusable.ts'
import { directory, options } from './running.ts'

const { disk } = vi.hoisted(() => ({ disk: { freeBytes: Number.POSITIVE_INFINITY } }))
vi.mock('node:fs/promises', async (original) => ({
  ...(await original<object>()),
  statfs: () => Promise.resolve({ bavail: disk.freeBytes, bsize: 1 }),
}))

const MIB = 1024 * 1024

test('a new data directory needs 20 MiB, and the refusal names it and the remedy', async () => {
  const dataDirectory = join(directory(), 'small')
  disk.freeBytes = 3.9 * MIB
  await expect(openServer(options(dataDirectory))).rejects.toMatchObject({
    code: 'data_directory_full',
    message: `There is no space for data in ${dataDirectory}: 3 MiB are free, a server needs 20.`,
    fix: 'Free disk space there, or name another directory with --data.',
  })
  disk.freeBytes = 20 * MIB
  const server = await openServer(options(dataDirectory))
  await server.close()
})

test('a directory with data opens on a full disk, since what only reads is answered', async () => {
  const dataDirectory = join(directory(), 'grown')
  disk.freeBytes = 100 * MIB
  await (await openServer(options(dataDirectory))).close()
  disk.freeBytes = 0
  const server = await openServer(options(dataDirectory))
  expect((await fetch(`${server.url}/v1/healthz`)).status).toBe(200)
  await server.close()
})

test('SQLite’s own words for a full disk become the same sentence; others keep theirs', () => {
  const at = directory()
  mkdirSync(at, { recursive: true })
  const file = join(at, 'data.db')
  const said = (code: string): Error => Object.assign(new Error('disk I/O error'), { code })
  expect(databaseFailure(file, said('SQLITE_FULL'))).toMatchObject({
    code: 'data_directory_full',
    message: `There is no space for data in ${at}: no space is left on the device.`,
  })
  expect(databaseFailure(file, said('SQLITE_IOERR_WRITE'))).toMatchObject({
    code: 'store_unreadable',
    message: `${file} cannot be used as a store: disk I/O error.`,
  })
  const known = fail('store_locked', { directory: at })
  expect(databaseFailure(file, known)).toBe(known)
})
