/** Copies the files of a store from one storage to another. */
import { fail } from '../../../base/failure.ts'
import type { Blobs } from '../../../blobs/blobs.ts'

export interface CopiedFile {
  readonly objectKey: string
  readonly mediaType: string
}

/** One file at a time is in memory; uploads are bounded. @returns how many there were */
export async function copyObjects(
  files: AsyncIterable<CopiedFile>,
  from: Blobs,
  to: Blobs,
  report: (files: number) => void,
): Promise<number> {
  let count = 0
  for await (const { objectKey, mediaType } of files) {
    const bytes = await from.get(objectKey)
    if (!bytes)
      throw fail(
        'file_missing',
        { path: objectKey, doing: 'copied' },
        {
          fix: 'Look whether --storage or storage.url names the bucket that the servers used; svc files list shows all files.',
        },
      )
    await to.put(objectKey, bytes, mediaType)
    report(++count)
  }
  return count
}
