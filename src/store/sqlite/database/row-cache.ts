/**
 * Rows that every request reads and hardly any changes, kept in memory. The directory's lock makes this process the only
 * writer, and what it changes is forgotten here before it is committed: no read can fall between the two.
 */
export interface RowCache<Row> {
  /** The row, read when it is not kept. What does not exist is not kept. */
  get(key: string): Row | undefined
  /** To be called by whatever changes any row. */
  forget(): void
}

/** Rows that are kept; the oldest go first. */
const MOST = 1000

export function createKept<Row>(read: (key: string) => Row | undefined): RowCache<Row> {
  const rows = new Map<string, Row>()
  return {
    get(key) {
      const kept = rows.get(key)
      if (kept) return kept
      const row = read(key)
      if (!row) return undefined
      rows.set(key, row)
      if (rows.size > MOST) rows.delete(rows.keys().next().value!)
      return row
    },
    forget: () => rows.clear(),
  }
}
