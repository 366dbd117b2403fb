/** One database of a copy. */
import type { CopiedRow, CopiedTable } from './copied-table.ts'

export interface CopySource {
  /** Name for messages, without a password. */
  readonly name: string
  /** The rows of a table in order, from one snapshot, few in memory at a time. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow>
  /** Marks the store as moved, so that it is not served again. @param to where */
  markMoved(to: string): Promise<void>
  /** Removes the mark. */
  unmarkMoved(): Promise<void>
  close(): Promise<void>
}

export interface CopyTarget {
  readonly name: string
  /** Name of a table that has rows; undefined where all are empty. */
  findFilled(tables: readonly CopiedTable[]): Promise<string | undefined>
  /** Adds rows in their order. Nothing is visible to others until `commit`. */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Computes what is not copied: counts and search indexes. */
  finish(): Promise<void>
  /** The written rows, as `CopySource` reads them. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow>
  commit(): Promise<void>
  /** Rolls back unless committed. */
  close(): Promise<void>
}
