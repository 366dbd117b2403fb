/** Rows that operators set up, as their acts cover them. What only use changes is no part of them. Source: docs/design/audit.md#what-operators-set-up */
import { digestOf } from '../../base/digest.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { SetupRow } from '../../spec/chain/setup-row.ts'
import { SETUP_NOUNS, type SetupName, type SetupNoun } from '../../spec/people/setup-name.ts'
import type { Dialect } from '../dialect.ts'
import { toColumnText } from '../rows/json-column.ts'
import { readRows, type DatabaseWork, type NounWork } from '../statement.ts'
import { API_KEYS } from './people/api-keys.ts'
import { ATTESTATIONS, TRUST_DOCUMENTS } from './versions/attestations.ts'
import { CONSOLE_SESSIONS } from './people/console-sessions.ts'
import { OPERATOR_KEYS } from './people/operator-keys.ts'
import { PASSKEYS } from './people/passkeys.ts'
import { PAUSE_ACTS } from './pauses.ts'
import type { StoredColumn } from './record-table.ts'
import { STANDING_ACTS } from './standing.ts'
import { TRIGGERS } from './triggers.ts'

/** Texts that may be long, or that nobody else has to see, are named by their digest. */
const BY_DIGEST: ReadonlySet<string> = new Set(['snapshot', 'document', 'envelope', 'hash'])

interface SetupTable {
  /** With the alias `t`, restricted to the workspace of the parameter `workspaceId`. */
  readonly from: string
  /** What names a row: texts, compared as they are, so that an index finds them. */
  readonly key: readonly string[]
  readonly columns: readonly Pick<StoredColumn, 'name' | 'kind'>[]
  /** Of the rows of one name. */
  readonly order: string
}

const texts = (names: string): SetupTable['columns'] => names.split(' ').map((name) => ({ name, kind: 'text' }))

function setupTables({ key, column }: Dialect): Readonly<Record<SetupNoun, SetupTable>> {
  const ofAgent = (table: string, alias = 't') =>
    `from ${table} t join agent a on a.${key} = ${alias}.${column('agent')} where a.workspace_id = :workspaceId`
  const agent = [{ name: 'a.id', kind: 'text' } as const]
  const ofWorkspace = (
    { name, columns }: { readonly name: string; readonly columns: SetupTable['columns'] },
    names: string,
    used: string,
    order = 't.workspace_id',
  ): SetupTable => ({
    from: `from ${name} t where t.workspace_id = :workspaceId`,
    key: names.split(' '),
    columns: columns.filter((each) => !used.split(' ').includes(each.name)),
    order,
  })
  return {
    agent: {
      from: 'from agent t where t.workspace_id = :workspaceId and t.deployed_version_id is not null',
      key: ['t.id'],
      columns: texts('name deployed_version_id previous_version_id deployed_until'),
      order: 't.id',
    },
    deployments: {
      from: ofAgent('deployment'),
      key: ['a.id'],
      columns: texts('version_id from_version_id deployed_at deployed_by message expires_at'),
      order: 't.n',
    },
    version: {
      from: ofAgent('version'),
      key: ['t.id'],
      columns: [
        ...agent,
        ...texts('label digest closure_digest snapshot published_at published_by message yank_reason'),
        { name: 'yanked', kind: 'boolean' },
      ],
      order: 't.id',
    },
    document: {
      from: `from document t left join yanked_document y
        on y.workspace_id = t.workspace_id and y.kind = t.kind and y.id = t.id and y.version = t.version
        where t.workspace_id = :workspaceId`,
      key: ['t.kind', 't.id', 't.version'],
      columns: [...texts('digest document published_at published_by y.version y.reason')],
      order: 't.id',
    },
    trigger: ofWorkspace(TRIGGERS, 'id', 'refusal'),
    key: ofWorkspace(API_KEYS, 'id', 'last_used_at'),
    credential: ofWorkspace(OPERATOR_KEYS, 'id', 'last_used_at'),
    passkey: ofWorkspace(PASSKEYS, 'id', 'sign_count is_backed_up last_used_at'),
    'sign-ins': ofWorkspace(CONSOLE_SESSIONS, 'operator', 'last_used_at', 't.created_at, t.id'),
    standing: ofWorkspace(STANDING_ACTS, 'name', '', 't.n'),
    pause: ofWorkspace(PAUSE_ACTS, 'kind name', '', 't.n'),
    trust: { ...ofWorkspace(TRUST_DOCUMENTS, 'version', ''), key: ['cast(t.version as text)'] },
    attestation: ofWorkspace(ATTESTATIONS, 'digest', ''),
  }
}

export interface SetupReader {
  /** Lines of a row: one, or one for each part of it; none where it is not there. */
  readonly linesOf: (workspaceId: WorkspaceId, name: SetupName) => DatabaseWork<readonly string[]>
  /** Rows in order, after the one of this name. */
  readonly rowsAfter: (
    workspaceId: WorkspaceId,
    after: SetupName | undefined,
    limit: number,
  ) => DatabaseWork<readonly SetupRow[]>
}

export function prepareSetupReader(dialect: Dialect): SetupReader {
  const tables = setupTables(dialect)
  const statements = Object.fromEntries(
    Object.entries(tables).map(([noun, { from, key, columns, order }]) => {
      const parts = key.map(qualified)
      const values = columns.map(({ name }, at) => `${qualified(name)} as c${at}`)
      const list = parts.join(', ')
      const names = `select distinct ${parts.map((part, at) => `${part} as k${at}`).join(', ')} ${from}`
      return [
        noun,
        {
          one: `select ${values.join(', ')} ${from} and ${parts.map((part, at) => `${part} = :k${at}`).join(' and ')} order by ${order}`,
          first: `${names} order by ${list} limit :limit`,
          next: `${names} and (${list}) > (${parts.map((_, at) => `:k${at}`).join(', ')}) order by ${list} limit :limit`,
        },
      ]
    }),
  ) as Record<SetupNoun, Readonly<Record<'one' | 'first' | 'next', string>>>

  function* read(workspaceId: WorkspaceId, name: SetupName) {
    const { noun, parts } = parseName(name, tables)
    const { columns } = tables[noun]
    const rows = yield* readRows<Record<string, unknown>>(statements[noun].one, { workspaceId, ...parts })
    const lines = rows.map((row) => toLine(columns.map((column, at) => toShown(column, row[`c${at}`] ?? null))))
    const envelope = columns.findIndex(({ name: column }) => column === 'envelope')
    return { lines, ...(envelope >= 0 && rows[0] && { envelope: rows[0][`c${envelope}`] as string }) }
  }

  return {
    *linesOf(workspaceId, name) {
      return (yield* read(workspaceId, name)).lines
    },
    *rowsAfter(workspaceId, after, limit) {
      const rows: SetupRow[] = []
      const last = after === undefined ? undefined : parseName(after, tables)
      for (const noun of SETUP_NOUNS.slice(last ? SETUP_NOUNS.indexOf(last.noun) : 0)) {
        if (rows.length >= limit) break
        const parts = noun === last?.noun ? last.parts : undefined
        const { first, next } = statements[noun]
        const given = { workspaceId, limit: limit - rows.length, ...parts }
        for (const found of yield* readRows<Record<string, string>>(parts ? next : first, given)) {
          const name: SetupName = `${noun} ${tables[noun].key.map((_, at) => found[`k${at}`]).join(' ')}`
          rows.push({ name, ...(yield* read(workspaceId, name)) })
        }
      }
      return rows
    },
  }
}

export function prepareSetupRows(dialect: Dialect): NounWork<'setupRows', never> {
  const { rowsAfter } = prepareSetupReader(dialect)
  return { reads: { setupRows: rowsAfter }, writes: {}, transactions: {} }
}

const qualified = (name: string): string => (name.includes('.') ? name : `t.${name}`)

/** Ends with the last value that is there: a column that a later version of svc adds changes no line that has nothing in it. */
const toLine = (values: readonly (string | number | boolean | null)[]): string =>
  toColumnText(values.slice(0, values.findLastIndex((value) => value !== null) + 1))

/** Both databases give the same line. */
function toShown(
  { name, kind }: Pick<StoredColumn, 'name' | 'kind'>,
  value: unknown,
): string | number | boolean | null {
  if (value === null) return null
  if (kind === 'boolean') return Boolean(value)
  // The cast holds: all other columns are texts and integers.
  return BY_DIGEST.has(name) ? digestOf(value as string) : (value as string | number)
}

/** The last part may have spaces. */
function parseName(name: SetupName, tables: Readonly<Record<SetupNoun, SetupTable>>) {
  const [noun, ...words] = name.split(' ') as [SetupNoun, ...string[]]
  const { length } = tables[noun].key
  const values = [...words.slice(0, length - 1), words.slice(length - 1).join(' ')]
  return { noun, parts: Object.fromEntries(values.map((value, at) => [`k${at}`, value])) }
}
