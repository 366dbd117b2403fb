/**
 * How a table is copied: its columns as they are named on PostgreSQL, which has the ids in every row, and how SQLite, which
 * has the numbers of rows instead, reads and writes them. Columns that only speed up queries are computed again, not
 * copied.
 */

import type { ColumnKind, StoredColumn } from '../nouns/record-table.ts'

/** Tables whose rows others name. Column `agent_id` is `agent_n` on SQLite. */
export type ReferencedTable = 'agent' | 'session' | 'run' | 'user_task'

export interface CopiedColumn extends StoredColumn {
  /** On SQLite the column has the number of a row of this table. */
  readonly reference?: ReferencedTable
  /** Expression over the row `t` that SQLite reads in its place, and does not write. */
  readonly computed?: string
}

export interface CopiedTable {
  readonly name: string
  readonly columns: readonly CopiedColumn[]
  /** Copied and compared in this order: columns of the table, or `n` for the order of insertion. */
  readonly order: readonly string[]
  /** In shards on PostgreSQL: these columns are sums over them. */
  readonly sums?: readonly string[]
  /** Columns that PostgreSQL has besides: expressions over the copied row `p`. */
  readonly derived?: Readonly<Record<string, string>>
  /** Rows may be large: few are read at a time. */
  readonly isHeavy?: boolean
  /** Rows belong to sessions, whose ids give their order on SQLite without sorting. */
  readonly isOfSession?: boolean
  /** After the insertion of each row on SQLite, with the same values. */
  readonly afterSqlite?: string
  /** In place of an insertion: changes rows that are there. */
  readonly update?: true
  /** Only these rows: the same condition for both databases. */
  readonly where?: string
}

/** Columns by kind, each a list of names. A reference is written `agent_id→agent`, what is computed is in `computed`. */
export function toColumns(
  lists: Partial<Readonly<Record<ColumnKind, string>>>,
  computed: Readonly<Record<string, string>> = {},
): readonly CopiedColumn[] {
  return Object.entries(lists).flatMap(([kind, names]) =>
    names
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word): CopiedColumn => {
        const [name, reference] = word.split('→') as [string, ReferencedTable?]
        const expression = computed[name]
        return {
          name,
          kind: kind as ColumnKind,
          ...(reference !== undefined && { reference }),
          ...(expression !== undefined && { computed: expression }),
        }
      }),
  )
}

/** Values of a row in the order of the columns, in the form that both databases share. */
export type CopiedRow = readonly (string | number | boolean | null)[]
