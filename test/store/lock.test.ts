import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Failure } from '../../src/base/failure.ts'
import { lockDirectory } from '../../src/store/sqlite/database/lock.ts'
import { removeDirectory } from '../remove-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'svc-lock-'))
afterAll(() => removeDirectory(root))

const LOCK = resolve(import.meta.dirname, '../../src/store/sqlite/database/lock.ts')

/** Starts a process that takes the lock, prints `held` or the code of its failure, and keeps running. */
async function locker(directory: string, asUser: { readonly uid?: number } = {}) {
  const script = `
    import(process.argv[1]).then(({ lockDirectory }) => {
      try { globalThis.held = lockDirectory(process.argv[2]); console.log('held') } catch (error) { console.log(error.code) }
      setInterval(() => {}, 1000)
    })`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, LOCK, directory], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...asUser,
  })
  const [said] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    said: said.toString().trim(),
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

test('one process holds a directory, and another gets it at once when the first is killed', async () => {
  const directory = join(root, 'held')
  const first = await locker(directory)
  expect(first.said).toBe('held')
  expect(() => lockDirectory(directory)).toThrow(
    expect.objectContaining({
      code: 'store_locked',
      message: `The data directory ${directory} is held by another process.`,
    }),
  )
  await first.kill()
  const lock = lockDirectory(directory)
  // A second attempt in the same process must not drop the lock.
  expect(() => lockDirectory(directory)).toThrow(expect.objectContaining({ code: 'store_locked' }))
  const second = await locker(directory)
  expect(second.said).toBe('store_locked')
  await second.kill()
  lock.release()
  lock.release()
  lockDirectory(directory).release()
})

test('creates the directory and its file for their owner only', () => {
  const directory = join(root, 'new', 'deep')
  lockDirectory(directory).release()
  expect(statSync(directory).mode & 0o777).toBe(0o700)
  expect(statSync(join(directory, 'lock.db')).mode & 0o777).toBe(0o600)
})

test('refuses a directory that cannot be created, and one that is a file', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  const refusals = [file, join(file, 'data'), '/proc/nowhere/data'].map((directory) => {
    try {
      return lockDirectory(directory)
    } catch (error) {
      const { code, message } = error as Failure
      return [code, message.replace(directory, '…')]
    }
  })
  expect(refusals).toEqual([
    ['data_directory_unusable', '… cannot be used as a data directory: something else has this name.'],
    ['data_directory_unusable', '… cannot be used as a data directory: a part of the path is a file, not a directory.'],
    ['data_directory_unusable', '… cannot be used as a data directory: this file system takes no new directories.'],
  ])
})

test('refuses a directory whose lock file may only be read: it would lock nothing', async () => {
  const directory = join(root, 'read-only')
  lockDirectory(directory).release()
  chmodSync(root, 0o755)
  chmodSync(directory, 0o755)
  chmodSync(join(directory, 'lock.db'), 0o444)
  // Root may write to every file.
  const reader = await locker(directory, process.getuid?.() === 0 ? { uid: 65_534 } : {})
  expect(reader.said).toBe('data_directory_unusable')
  await reader.kill()
})

test('refuses a directory that everybody may write to', () => {
  const directory = join(root, 'open')
  mkdirSync(directory)
  chmodSync(directory, 0o777)
  expect(() => lockDirectory(directory)).toThrow(
    expect.objectContaining({
      code: 'store_unreadable',
      message: `${directory} cannot be used as a store: every user of this machine may write to it.`,
    }),
  )
})
