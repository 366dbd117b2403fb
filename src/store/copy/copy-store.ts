/**
 * Moves the content of a store to another one. Copies the rows of each table in an order that both databases know, reads
 * them back and compares them by digest; then marks the source as moved and commits the target, so that servers see only
 * one of them.
 */
import { createHash, type Hash } from 'node:crypto'
import { fail, isFailure } from '../../base/failure.ts'
import type { CopiedRow } from './copied-table.ts'
import { COPIED_TABLES } from './copied-tables.ts'
import type { CopySource, CopyTarget } from './copy-side.ts'

/** Rows that are written together, at most; fewer where they are large. */
const WRITTEN = 200
const WRITTEN_CHARACTERS = 1_000_000

export interface StoreCopy {
  readonly rows: number
  /** `sha256:` of all that was copied, the same on both sides. */
  readonly digest: string
}

export interface CopyProgress {
  readonly doing: 'copying' | 'comparing' | 'indexing'
  readonly table: string
  /** Rows copied or compared so far, of all tables. */
  readonly rows: number
}

/**
 * @param prepare called before the target is committed, for example to copy files
 * @throws Failure `store_not_empty`, `store_copy_differs`; the target is then as it was, and the source is not marked
 */
export async function copyStore(
  source: CopySource,
  target: CopyTarget,
  report: (progress: CopyProgress) => void,
  prepare: () => Promise<void> = async () => {},
): Promise<StoreCopy> {
  const filled = await target.findFilled(COPIED_TABLES)
  if (filled !== undefined) throw fail('store_not_empty', { store: target.name, table: filled })
  const digests: string[] = []
  let rows = 0
  for (const table of COPIED_TABLES) {
    const hash = createHash('sha256')
    for await (const batch of inBatches(source.rows(table), hash)) {
      await target.write(table, batch)
      rows += batch.length
      report({ doing: 'copying', table: table.name, rows })
    }
    digests.push(hash.digest('hex'))
  }
  report({ doing: 'indexing', table: 'run', rows })
  await target.finish()
  let compared = 0
  for (const [at, table] of COPIED_TABLES.entries()) {
    const hash = createHash('sha256')
    for await (const batch of inBatches(target.rows(table), hash)) {
      compared += batch.length
      report({ doing: 'comparing', table: table.name, rows: compared })
    }
    if (hash.digest('hex') !== digests[at]) throw fail('store_copy_differs', { store: target.name, table: table.name })
  }
  await prepare()
  // Marks first: a crash in between leaves a marked source, never two usable stores.
  await source.markMoved(target.name)
  try {
    await target.commit()
  } catch (error) {
    // After a broken connection it is unknown whether the commit happened.
    if (isFailure(error, 'store_unreachable'))
      throw fail('store_copy_unknown', { store: source.name, to: target.name }, { cause: error })
    await source.unmarkMoved()
    throw error
  }
  return { rows, digest: `sha256:${createHash('sha256').update(digests.join('\n')).digest('hex')}` }
}

/** Adds each row to the hash. */
async function* inBatches(rows: AsyncIterable<CopiedRow>, hash: Hash): AsyncGenerator<readonly CopiedRow[]> {
  let batch: CopiedRow[] = []
  let characters = 0
  for await (const row of rows) {
    const text = JSON.stringify(row)
    hash.update(text).update('\n')
    batch.push(row)
    characters += text.length
    if (batch.length < WRITTEN && characters < WRITTEN_CHARACTERS) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}
