/** A lost database is not taken for a new one. */
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openOperator, openServer } from '../../src/server/open.ts'
import { openReset } from '../../src/server/runtime/upkeep/reset.ts'
import { lockDirectory } from '../../src/store/sqlite/database/lock.ts'
import { systemClock } from '../../src/base/clock.ts'
import { directory, options } from './running.ts'

const spoil: readonly (readonly [string, (path: string) => void])[] = [
  ['emptied', (path) => truncateSync(path, 0)],
  ['missing', (path) => rmSync(path)],
]

test.each(spoil)('a database that is %s beside logs and objects is refused until it is reset', async (_, harm) => {
  const data = directory()
  await (await openServer(options(data))).close()
  mkdirSync(join(data, 'logs'), { recursive: true })
  writeFileSync(join(data, 'logs/server.log'), '{}\n')
  harm(join(data, 'data.db'))
  await expect(openServer(options(data))).rejects.toMatchObject({ code: 'store_unreadable' })
  const reading = async () => (await openOperator({ ...options(data), readOnly: true })).close()
  await expect(reading()).rejects.toMatchObject({ code: 'store_unreadable' })
  // Whoever holds the directory may be about to create its database.
  const lock = lockDirectory(data)
  await reading()
  lock.release()
  const reset = await openReset({ dataDirectory: data, workspace: 'acme', config: {}, clock: systemClock })
  await reset!.forgetAll()
  await reset!.close()
  await (await openServer(options(data))).close()
})

test('a directory in which no server has worked is a new one', async () => {
  const data = directory()
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'workspace'), 'acme\n')
  await (await openServer(options(data))).close()
})
