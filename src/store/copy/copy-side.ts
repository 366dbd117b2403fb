/** One database of a copy. */
import type { CopiedRow, CopiedTable } from './copied-table.ts'

export interface CopySource {
  /** As a person knows it, without a password. */
  readonly name: string
  /** The rows of a table in their order, all as of one moment, a few in memory at a time. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow>
  /** Records that its content is elsewhere now: it is not served again. @param to where */
  markMoved(to: string): Promise<void>
  /** Takes that back. */
  unmarkMoved(): Promise<void>
  close(): Promise<void>
}

export interface CopyTarget {
  readonly name: string
  /** Name of a table that has rows; undefined where all are empty. */
  findFilled(tables: readonly CopiedTable[]): Promise<string | undefined>
  /** Adds rows in their order. Nothing is visible to others until `commit`. */
  write(table: CopiedTable, rows: readonly CopiedRow[]): Promise<void>
  /** Makes what is not copied: counts, and the words that searches look for. */
  finish(): Promise<void>
  /** What was written, as `CopySource` reads it. */
  rows(table: CopiedTable): AsyncIterable<CopiedRow>
  commit(): Promise<void>
  /** Without a commit before nothing is left of what was written. */
  close(): Promise<void>
}
