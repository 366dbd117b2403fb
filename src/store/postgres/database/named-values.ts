/** Statements with named values, as SQLite has them: `:id`. PostgreSQL knows `$1` only. */

type QueryValue = string | number | boolean | null | undefined | readonly (string | number)[]
export type NamedValues = Readonly<Record<string, QueryValue>>

interface PositionalQuery {
  /** Name under which a connection keeps the plan: our texts are few and fixed. */
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

interface PreparedText {
  readonly name: string
  readonly text: string
  readonly names: readonly string[]
}

/** Excludes the second colon of a cast. */
const NAME = /(?<!:):([a-zA-Z]\w*)/g

const prepared = new Map<string, PreparedText>()

export function toPositional(sql: string, values: NamedValues = {}): PositionalQuery & { values: unknown[] } {
  let found = prepared.get(sql)
  if (!found) {
    const names: string[] = []
    const text = sql.replace(NAME, (_, name: string) => {
      const known = names.indexOf(name)
      return `$${known === -1 ? names.push(name) : known + 1}`
    })
    prepared.set(sql, (found = { name: `svc_${prepared.size}`, text, names }))
  }
  const { name, text, names } = found
  return { name, text, values: names.map((each) => toStorable(values[each])) }
}

/** PostgreSQL stores no NUL in a text. */
const toStorable = (value: QueryValue): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value

/** NUL, and halves of a surrogate pair: legal in JSON, but no text of PostgreSQL. The first group is what escapes the backslash. */
const NOT_STORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/**
 * A list of rows as the JSON text of one value; null where it is empty. Contents inside are JSON text already, so that what they
 * escape stays as it is; only a plain text loses characters that PostgreSQL cannot store.
 */
export const toJsonRows = (rows: readonly object[]): string | null =>
  rows.length === 0 ? null : JSON.stringify(rows).replace(NOT_STORABLE, '$1\\ufffd')
