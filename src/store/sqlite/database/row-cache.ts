/**
 * Caches rows that every request reads and few requests change. The directory lock makes this process the only writer, and a
 * writer clears the cache before it commits. Nothing can read in between, because both happen in one synchronous block.
 */
import { dropOldest } from '../../../base/values/collections.ts'
export interface RowCache<Row, Key extends string = string> {
  /** The row, read from the database when it is not cached. The absence of a row is not cached. */
  get(key: Key): Row | undefined
  /** Must be called by every write that changes a row: with its key, or without for all rows. */
  clear(key?: Key): void
}

/** The oldest rows are evicted first. */
const MAX_ROWS = 1000

/** @param isSmall false for a row that must not take memory; all rows by default */
export function createRowCache<Row, Key extends string = string>(
  read: (key: Key) => Row | undefined,
  isSmall: (row: Row) => boolean = () => true,
): RowCache<Row, Key> {
  const rows = new Map<Key, Row>()
  return {
    get(key) {
      const cached = rows.get(key)
      if (cached) return cached
      const row = read(key)
      if (!row || !isSmall(row)) return row
      rows.set(key, row)
      dropOldest(rows, MAX_ROWS)
      return row
    },
    clear(key) {
      if (key === undefined) rows.clear()
      else rows.delete(key)
    },
  }
}
