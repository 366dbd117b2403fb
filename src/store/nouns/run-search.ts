/** Conditions of the search for runs. */
import type { Dialect } from '../dialect.ts'
import type { RunFilter } from '../queries.ts'
import type { FilterClause } from '../rows/filter.ts'

/** Runs that a search looks at for each of its parts, newest first. */
const MOST_FOUND = 2000

interface RunSearch {
  readonly clauses: readonly FilterClause[]
  /** Values that a clause needs besides its first one. */
  readonly values: Readonly<Record<string, string>>
}

/** @returns undefined where the text has no word, so that no run has all of its words */
export function prepareRunSearch(dialect: Dialect): (filter: RunFilter) => RunSearch | undefined {
  const { key, column, member } = dialect
  const own = OWN[dialect.name]
  const run = column('run')
  const ofTool = `r.${key} in (select ${run} from call where ${own.toolOfCall} = :tool order by at desc limit ${MOST_FOUND})`
  const ofEffect = `r.id in (
    select run_id from effect where key = :effect and workspace_id = :workspaceId order by at desc limit ${MOST_FOUND})`
  const votedBy = (approver: string): string => `r.${key} in (
    select t.${run}
    from (select ${column('user_task')} as task from vote where approver = :${approver} order by at desc limit ${MOST_FOUND}) v
      join user_task t on t.${key} = v.task)`
  // A run that goes on with a session has a starter of its own.
  const started = (name: string, ofSession: string): string =>
    `case when r.starter is null then s.${ofSession} else ${member('r.starter', name)} end`
  // As votes name approvers.
  const startedBy = `coalesce(
    'operator:' || ${started('person', 'person')},
    case ${started('triggerType', 'trigger_type')} when 'operator' then 'operator:' else 'key:' end
      || ${started('triggeredBy', 'triggered_by')})`
  const byTrigger = `coalesce(${started('triggerName', 'trigger_name')}, ${started('triggerType', 'trigger_type')}) = :trigger
    and ${own.isAmongNewest}`
  const byPerson = `(${startedBy} = :person and ${own.isAmongNewest} or ${votedBy('person')})`

  return (filter) => {
    const words = filter.text === undefined ? undefined : own.toWords(filter.text)
    if (filter.text !== undefined && words === undefined) return undefined
    return {
      clauses: [
        [own.origin, filter.origin],
        [own.words, words],
        [ofTool, filter.tool],
        [ofEffect, filter.effect],
        ['r.version_label = :versionLabel', filter.versionLabel],
        [byTrigger, filter.trigger],
        [byPerson, filter.person],
        [votedBy('approver'), filter.approver],
        [own.metadata, filter.metadata && true],
      ],
      values: filter.metadata ? own.toMetadataValues(filter.metadata) : {},
    }
  }
}

/** What each database keeps in a form of its own. */
interface OwnSearch {
  readonly origin: string
  /** Runs with all words of `:words` in their input, or in their output and error. */
  readonly words: string
  /** The words of a text: all of them, each also as the beginning of a longer one. One with marks inside, such as `A-1042`, stays together. */
  readonly toWords: (text: string) => string | undefined
  /** As the index of calls has it. */
  readonly toolOfCall: string
  /** Sessions that are looked at where no index leads to them. */
  readonly isAmongNewest: string
  /** Sessions whose metadata has a pair, among the newest. */
  readonly metadata: string
  readonly toMetadataValues: (metadata: Readonly<Record<string, string>>) => Readonly<Record<string, string>>
}

const NEWEST_SESSIONS = 20_000
const AMONG_NEWEST_SQLITE = `r.session_n > (select max(n) from session) - ${NEWEST_SESSIONS}`
// The index of started sessions gives the newest one; none is ordered by `n` alone.
const AMONG_NEWEST_POSTGRES = `s.n > (
  select n from session where workspace_id = :workspaceId order by started_at desc, n desc limit 1) - ${NEWEST_SESSIONS}`

const OWN: Readonly<Record<Dialect['name'], OwnSearch>> = {
  sqlite: {
    // As the index of origins has it, which leaves out runs without one.
    origin: `json_extract(r.origin, '$.runId') = :origin and r.origin is not null`,
    words: `r.n in (
      select rowid from (select rowid from run_input where run_input match :words order by rowid desc limit ${MOST_FOUND})
      union all
      select rowid from (select rowid from run_output where run_output match :words order by rowid desc limit ${MOST_FOUND}))`,
    toWords: (text) =>
      text
        .split(/\s+/)
        .filter((word) => /[\p{L}\p{N}]/u.test(word))
        .map((word) => `"${word.replaceAll('"', ' ')}" *`)
        .join(' AND ') || undefined,
    toolOfCall: `substr(ref, 1, instr(ref || '@', '@') - 1)`,
    isAmongNewest: AMONG_NEWEST_SQLITE,
    metadata: `${AMONG_NEWEST_SQLITE} and exists (
      select 1 from json_each(:metadata) wanted, json_each(s.metadata) given
      where given.key = wanted.key and given.value = wanted.value)`,
    toMetadataValues: (metadata) => ({ metadata: JSON.stringify(metadata) }),
  },
  postgres: {
    origin: 'r.origin_run_id = :origin',
    words: `r.id in (
      select distinct run_id from run_words
      where words @@ to_tsquery('simple', :words)
      order by run_id desc limit ${MOST_FOUND})`,
    toWords(text) {
      const words = text.split(/\s+/).flatMap((word) => {
        const parts = word.toLowerCase().match(/[\p{L}\p{N}]+/gu)
        return parts ? [`${parts.map((part) => `'${part}'`).join(' <-> ')}:*`] : []
      })
      return words.length === 0 ? undefined : words.map((word) => `(${word})`).join(' & ')
    },
    toolOfCall: `split_part(ref, '@', 1)`,
    isAmongNewest: AMONG_NEWEST_POSTGRES,
    metadata: `s.metadata is not null and (s.metadata::json -> :metadataKey)::text = :metadataValue and ${AMONG_NEWEST_POSTGRES}`,
    toMetadataValues(metadata) {
      const [[metadataKey, value] = ['', '']] = Object.entries(metadata)
      return { metadataKey, metadataValue: JSON.stringify(value) }
    },
  },
}
