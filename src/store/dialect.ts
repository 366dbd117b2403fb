/**
 * Where the SQL of the two databases differs. On SQLite rows name others by their number, so that a step does not carry two UUIDs; on
 * PostgreSQL by their id.
 */
import { readRows, type DatabaseWork } from './statement.ts'

/** Tables whose rows others name. */
type NamedTable = 'agent' | 'session' | 'run' | 'user_task'

export interface Dialect {
  readonly name: 'sqlite' | 'postgres'
  /** Column of a row by which other rows name it. */
  readonly key: 'n' | 'id'
  /** Column of a row that names a row of the table: `run_n` */
  readonly column: (table: NamedTable) => string
  /** What names the row with the id of a parameter. */
  readonly find: (table: 'session' | 'run', parameter: string) => string
  /** Id of the row that a row names. */
  readonly idOf: (alias: string, table: NamedTable) => string
  /** What names the agent of the parameters `agentId` and `workspaceId`. */
  readonly agentRow: string
  /** What names the rows whose ids are the list of a parameter, as a condition on the column. */
  readonly findAll: (column: string, table: 'run', parameter: string) => string
  /** A row with an agent belongs to the workspace of the parameter `workspaceId`. */
  readonly ofWorkspace: (alias: string) => string
  /** Workspace and agent of a row with an agent, and the join that finds them. */
  readonly owner: (alias: string) => { readonly workspace: string; readonly agent: string; readonly join: string }
  /** Column that orders rows of a table with a text as its key as they were inserted. */
  readonly insertionOrder: 'rowid' | 'n'
  /** Joins tables in the written order, where the planner of SQLite would take another. */
  readonly joinInOrder: 'cross join' | 'join'
  /** A column whose index the planner of SQLite would take, and must not. */
  readonly unindexed: (column: string) => string
  /** Ends a `select` whose rows stay as they are until the transaction ends. */
  readonly forUpdate: '' | 'for update'
  /** Work that takes the same lock waits until the end of the transaction. */
  readonly lock: (name: string) => DatabaseWork<void>
  /** A condition on a boolean column. */
  readonly isTrue: (column: string) => string
  /** A column is one of the list of a parameter. */
  readonly isOneOf: (column: string, parameter: string, type?: ColumnType) => string
  /** The list of records, which is the JSON text of a parameter, as a table. */
  readonly records: (parameter: string, columns: Readonly<Record<string, ColumnType>>, alias: string) => string
  /** Text of a member of a JSON column. */
  readonly member: (column: string, name: string) => string
  /** Sum of integers, exact. */
  readonly sum: (expression: string) => string
  /** The ending of an id, without dashes, as long as the parameter `ending`. */
  readonly ending: (id: string) => string
}

type ColumnType = 'text' | 'uuid' | 'bigint'

export const SQLITE: Dialect = {
  name: 'sqlite',
  key: 'n',
  column: (table) => `${table === 'user_task' ? 'task' : table}_n`,
  find: (table, parameter) => `(select n from ${table} where id = :${parameter})`,
  idOf: (alias, table) => `(select id from ${table} where n = ${alias}.${SQLITE.column(table)})`,
  agentRow: '(select n from agent where id = :agentId and workspace_id = :workspaceId)',
  findAll: (column, table, parameter) =>
    `${column} in (select x.n from json_each(:${parameter}) given join ${table} x on x.id = given.value)`,
  ofWorkspace: (alias) => `${alias}.agent_n in (select n from agent where workspace_id = :workspaceId)`,
  owner: (alias) => ({
    workspace: 'a.workspace_id',
    agent: 'a.id',
    join: `cross join agent a on a.n = ${alias}.agent_n`,
  }),
  insertionOrder: 'rowid',
  joinInOrder: 'cross join',
  unindexed: (column) => `+${column}`,
  forUpdate: '',
  // This process is the only writer, and its transactions run one after the other.
  *lock() {},
  isTrue: (column) => `${column} = 1`,
  isOneOf: (column, parameter) => `${column} in (select value from json_each(:${parameter}))`,
  records: (parameter, columns, alias) => {
    const members = Object.keys(columns).map((name) => `value ->> '${name}' as "${name}"`)
    return `(select ${members.join(', ')} from json_each(:${parameter})) ${alias}`
  },
  member: (column, name) => `${column} ->> '${name}'`,
  sum: (expression) => `sum(${expression})`,
  ending: (id) => `substr(replace(${id}, '-', ''), -length(:ending))`,
}

export const POSTGRES: Dialect = {
  name: 'postgres',
  key: 'id',
  column: (table) => `${table === 'user_task' ? 'task' : table}_id`,
  find: (_, parameter) => `cast(:${parameter} as uuid)`,
  idOf: (alias, table) => `${alias}.${POSTGRES.column(table)}`,
  agentRow: ':agentId',
  findAll: (column, _, parameter) => `${column} = any (cast(:${parameter} as uuid[]))`,
  ofWorkspace: (alias) => `${alias}.workspace_id = :workspaceId`,
  owner: (alias) => ({ workspace: `${alias}.workspace_id`, agent: `${alias}.agent_id`, join: '' }),
  insertionOrder: 'n',
  joinInOrder: 'join',
  unindexed: (column) => column,
  forUpdate: 'for update',
  *lock(name) {
    yield* readRows('select lock_all(array[:name])', { name })
  },
  isTrue: (column) => column,
  isOneOf: (column, parameter, type = 'text') => `${column} = any (cast(:${parameter} as ${type}[]))`,
  records: (parameter, columns, alias) => {
    const typed = Object.entries(columns).map(([name, type]) => `"${name}" ${type}`)
    return `json_to_recordset(cast(:${parameter} as json)) as ${alias} (${typed.join(', ')})`
  },
  member: (column, name) => `cast(${column} as json) ->> '${name}'`,
  sum: (expression) => `sum(${expression})::bigint`,
  ending: (id) => `right(replace(${id}::text, '-', ''), length(:ending))`,
}
