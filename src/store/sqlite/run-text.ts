/**
 * The words of runs. The view `run_text` says what a run's words are, and the indexes must be told exactly those words when
 * a run leaves them: every change of a run's input, output or end comes here first.
 */
import type { Database } from 'better-sqlite3'

export interface RunTextIndex {
  started(runN: number): void
  /** After the end of a run is stored. */
  ended(runN: number): void
  /** Before a run that has ended goes on. */
  resumed(runN: number): void
}

export function openRunText(db: Database): RunTextIndex {
  const [started, ended, resumed] = [
    'insert into run_input (rowid, input) select n, input from run_text where n = ?',
    'insert into run_output (rowid, output) select n, output from run_text where n = ?',
    `insert into run_output (run_output, rowid, output) select 'delete', n, output from run_text where n = ?`,
  ].map((sql) => db.prepare<[number]>(sql))
  return {
    started: (runN) => void started!.run(runN),
    ended: (runN) => void ended!.run(runN),
    resumed: (runN) => void resumed!.run(runN),
  }
}

/** Run with the number of a session before its content is erased or its rows are deleted. */
export const FORGET_RUN_TEXT = [
  `insert into run_input (run_input, rowid, input)
   select 'delete', n, input from run_text where session_n = ?`,
  `insert into run_output (run_output, rowid, output)
   select 'delete', t.n, t.output from run_text t join run r on r.n = t.n
   where t.session_n = ? and r.finished_at is not null`,
] as const

/** Whether deleted words leave the index at once, not at its next merge. It makes every write of the index dearer. */
export function overwriteRunText(db: Database, isOn: boolean): void {
  for (const index of ['run_input', 'run_output'])
    db.exec(`insert into ${index} (${index}, rank) values ('secure-delete', ${Number(isOn)})`)
}

/** Runs that a search looks at for each of its parts, newest first. */
const MOST_FOUND = 2000

/** Runs with all words of `:text` in their input, or in their output and error. */
export const WITH_TEXT = `r.n in (
  select rowid from (select rowid from run_input where run_input match :text order by rowid desc limit ${MOST_FOUND})
  union all
  select rowid from (select rowid from run_output where run_output match :text order by rowid desc limit ${MOST_FOUND}))`

export const WITH_TOOL = `r.n in (
  select run_n from call where substr(ref, 1, instr(ref || '@', '@') - 1) = :tool order by at desc limit ${MOST_FOUND})`

/** Needs `:workspaceId` too. */
export const WITH_EFFECT = `r.id in (
  select run_id from effect where key = :effect and workspace_id = :workspaceId order by at desc limit ${MOST_FOUND})`

export const WITH_APPROVER = `r.n in (
  select t.run_n
  from (select task_n from vote where approver = :approver order by at desc limit ${MOST_FOUND}) v
    join user_task t on t.n = v.task_n)`

const AMONG_NEWEST = `r.session_n > (select max(n) from session) - 20000`

/** A run that goes on with a session has a starter of its own. */
const STARTED = (member: string, column: string): string =>
  `case when r.starter is null then s.${column} else json_extract(r.starter, '$.${member}') end`

export const WITH_TRIGGER = `${AMONG_NEWEST}
  and coalesce(${STARTED('triggerName', 'trigger_name')}, ${STARTED('triggerType', 'trigger_type')}) = :trigger`

/** The starter of a run, as votes name approvers. */
const STARTED_BY = `coalesce(
  'operator:' || ${STARTED('person', 'person')},
  case ${STARTED('triggerType', 'trigger_type')} when 'operator' then 'operator:' else 'key:' end
    || ${STARTED('triggeredBy', 'triggered_by')})`

export const WITH_PERSON = `(${AMONG_NEWEST} and ${STARTED_BY} = :person
  or ${WITH_APPROVER.replace(':approver', ':person')})`

/** Sessions whose metadata has the pair of `:metadata`, a JSON object of one member, among the newest. */
export const WITH_METADATA = `r.session_n in (
  select m.n from session m
  where m.n > (select max(n) from session) - 20000 and exists (
    select 1 from json_each(:metadata) wanted, json_each(m.metadata) given
    where given.key = wanted.key and given.value = wanted.value))`

/**
 * The words of a text as an expression of the index: all of them, each also as the beginning of a longer one. A word with marks
 * inside, such as `A-1042`, stays together.
 */
export const toMatch = (text: string): string =>
  text
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word) => `"${word.replaceAll('"', ' ')}" *`)
    .join(' AND ') || '""'
