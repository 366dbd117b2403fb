import type { CopySource } from './copy-side.ts'
import { COPIED_TABLES } from './copied-tables.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Files of a store whose upload is finalized. */
export async function* listCopiedFiles(
  source: CopySource,
): AsyncGenerator<{ readonly objectKey: string; readonly mediaType: string }> {
  const table = expectDefined(
    COPIED_TABLES.find(({ name }) => name === 'file'),
    'files are copied',
  )
  const at = (name: string): number => table.columns.findIndex((column) => column.name === name)
  const [key, type, finalized] = ['object_key', 'media_type', 'finalized_at'].map(at) as [number, number, number]
  for await (const row of source.rows(table))
    if (row[finalized] !== null) yield { objectKey: String(row[key]), mediaType: String(row[type]) }
}
