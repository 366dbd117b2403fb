import { mkdtemp, readdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLocalStorage } from '../../src/blobs/local/serve.ts'
import { bytesOf, openStorage, textOf } from './storage.ts'
import { removeDirectory } from '../remove-directory.ts'

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'svc-disk-'))
})
afterEach(() => removeDirectory(directory))

test('what was stored is there after a restart, under the same credentials; what a crash left is not', async () => {
  const first = await openStorage({ directory })
  await first.blobs.put('kept', bytesOf('kept'), 'text/plain')
  await first.close()
  await writeFile(join(directory, 'bytes', 'half-written'), 'x')
  await writeFile(join(directory, 'records', 'half.json.draft'), 'x')

  const second = await openStorage({ directory })
  expect(second.storage.credentials).toEqual(first.storage.credentials)
  expect(textOf(await second.blobs.get('kept'))).toBe('kept')
  await second.close()
  expect((await readdir(join(directory, 'bytes'))).length).toBe(1)
  expect((await readdir(join(directory, 'records'))).length).toBe(1)
})

test('an object that is replaced or deleted leaves no bytes behind', async () => {
  const { blobs, close } = await openStorage({ directory })
  for (const text of ['one', 'two', 'three']) await blobs.put('a', bytesOf(text), 'text/plain')
  await blobs.move('a', 'b')
  expect((await readdir(join(directory, 'bytes'))).length).toBe(1)
  await blobs.delete('b')
  expect(await readdir(join(directory, 'bytes'))).toEqual([])
  expect(await readdir(join(directory, 'records'))).toEqual([])
  await close()
})

test('nobody else on the machine can read objects or credentials', async () => {
  const { blobs, close } = await openStorage({ directory: join(directory, 'objects') })
  await blobs.put('a', bytesOf('secret'), 'text/plain')
  await close()
  const modeOf = async (...path: string[]): Promise<string> =>
    ((await stat(join(directory, 'objects', ...path))).mode & 0o777).toString(8)
  const [bytes] = await readdir(join(directory, 'objects', 'bytes'))
  const [record] = await readdir(join(directory, 'objects', 'records'))
  expect([
    await modeOf(),
    await modeOf('credentials.json'),
    await modeOf('bytes', bytes!),
    await modeOf('records', record!),
  ]).toEqual(['700', '600', '600', '600'])
})

test('a port that is taken is a failure with its name', async () => {
  const first = await openStorage({ directory })
  const port = Number(new URL(first.storage.url).port)
  const second = openLocalStorage({ directory: join(directory, 'other'), host: '127.0.0.1', port })
  await expect(second).rejects.toMatchObject({
    code: 'port_taken',
    message: `Cannot listen on 127.0.0.1:${port}: the port is taken.`,
  })
  await first.close()
})
