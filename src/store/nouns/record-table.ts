/**
 * A table whose rows are records of `spec`: its columns, listed once. Reads, insertions and the copy of a store follow from the list.
 */
import type { StatementValues } from '../statement.ts'

export type ColumnKind = 'text' | 'uuid' | 'integer' | 'boolean' | 'decimal'

export interface StoredColumn {
  readonly name: string
  readonly kind: ColumnKind
}

/** JSON is kept as text. */
type MemberKind = ColumnKind | 'json'

export interface RecordTable<Row> {
  readonly name: string
  readonly columns: readonly StoredColumn[]
  /** Without conditions. Columns have the names of the members. */
  readonly select: string
  readonly insert: string
  /** Writes all columns but these. Without conditions. */
  readonly update: (kept: ReadonlySet<string>) => string
  /** Values by the names of the members. */
  readonly toValues: (row: Row) => StatementValues
  /** Values by the names of the columns, in the form in which PostgreSQL reads rows. */
  readonly toRow: (row: Partial<Row>) => Readonly<Record<string, unknown>>
  /** Takes over the row that a statement gave. */
  readonly toRecord: (row: object) => Row
}

/** @param members a kind for each member of the record, in the order of the columns; `workspaceId` is the column `workspace_id` */
export function defineTable<Row extends object>(
  name: string,
  members: { readonly [Member in keyof Required<Row>]: MemberKind },
): RecordTable<Row> {
  const kinds = Object.entries<MemberKind>(members).map(([member, kind]) => {
    const column = member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    return [member, kind, column] as const
  })
  const ofKind = (kind: MemberKind): readonly string[] =>
    kinds.flatMap(([member, each]) => (each === kind ? [member] : []))
  const [booleans, documents] = [ofKind('boolean'), ofKind('json')]
  return {
    name,
    columns: kinds.map(([, kind, name]) => ({ name, kind: kind === 'json' ? 'text' : kind })),
    select: `select ${kinds.map(([member, , column]) => `${column} as "${member}"`).join(', ')} from ${name}`,
    insert: `insert into ${name} (${kinds.map(([, , column]) => column).join(', ')}) values (${kinds.map(([member]) => `:${member}`).join(', ')})`,
    update: (kept) =>
      `update ${name} set ${kinds
        .flatMap(([member, , column]) => (kept.has(column) ? [] : [`${column} = :${member}`]))
        .join(', ')}`,
    toValues(row) {
      const values = { ...row } as Record<string, unknown>
      for (const member of documents) values[member] = values[member] == null ? null : JSON.stringify(values[member])
      // The cast holds: what is no value became JSON.
      return values as StatementValues
    },
    toRow: (row) =>
      Object.fromEntries(
        kinds.flatMap(([member, kind, column]) => {
          const value = row[member as keyof Row]
          if (value === undefined) return []
          return [[column, kind === 'json' && value !== null ? JSON.stringify(value) : value]]
        }),
      ),
    toRecord(row) {
      const record = row as Record<string, unknown>
      for (const member of booleans) record[member] = Boolean(record[member])
      for (const member of documents)
        if (typeof record[member] === 'string') record[member] = JSON.parse(record[member]) as unknown
      // The cast holds: only the store writes the columns, each in its kind.
      return record as Row
    },
  }
}
