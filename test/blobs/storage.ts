import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.ts'
import type { Blobs } from '../../src/blobs/blobs.ts'
import { openLocalStorage, type LocalStorage } from '../../src/blobs/local/serve.ts'
import { createS3Blobs } from '../../src/blobs/s3.ts'
import { removeDirectory } from '../remove-directory.ts'

export interface Opened {
  readonly directory: string
  readonly storage: LocalStorage
  readonly blobs: Blobs
  readonly close: () => Promise<void>
}

/** An embedded storage in a directory of its own, and our client of it. */
export async function openStorage(options: { clock?: Clock; directory?: string } = {}): Promise<Opened> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'svc-storage-')))
  const storage = await openLocalStorage({
    directory,
    host: '127.0.0.1',
    port: 0,
    ...(options.clock && { clock: options.clock }),
  })
  const { endpoint, region, bucket, credentials } = storage
  const blobs = createS3Blobs({ endpoint, region, bucket, credentials, forcePathStyle: true })
  return {
    directory,
    storage,
    blobs,
    async close() {
      await blobs.close()
      await storage.close(0)
      if (!options.directory) removeDirectory(directory)
    },
  }
}

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes)
