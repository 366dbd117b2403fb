/** Conditions of the search for runs. */

/** Runs that a search looks at for each of its parts, newest first. */
const MOST_FOUND = 2000

/** Runs with all words of `:text` in their input, or in their output and error. */
export const WITH_WORDS = `r.id in (
  select distinct run_id from run_words
  where words @@ to_tsquery('simple', :text)
  order by run_id desc limit ${MOST_FOUND})`

export const WITH_CALLED_TOOL = `r.id in (
  select run_id from call where split_part(ref, '@', 1) = :tool order by at desc limit ${MOST_FOUND})`

/** Needs `:workspaceId` too. */
export const WITH_EFFECT_KEY = `r.id in (
  select run_id from effect where key = :effect and workspace_id = :workspaceId order by at desc limit ${MOST_FOUND})`

export const WITH_VOTE_OF = `r.id in (
  select t.run_id
  from (select task_id from vote where approver = :approver order by at desc limit ${MOST_FOUND}) v
    join user_task t on t.id = v.task_id)`

/** Needs `:workspaceId`, and stands after the value that a filter gives. The index of started sessions gives the newest one; none is ordered by `n` alone. */
const AMONG_NEWEST = `s.n > (
  select n from session where workspace_id = :workspaceId order by started_at desc, n desc limit 1) - 20000`

/** A run that goes on with a session has a starter of its own. */
const STARTED = (member: string, column: string): string =>
  `case when r.starter is null then s.${column} else cast(r.starter as json) ->> '${member}' end`

export const WITH_TRIGGER_NAMED = `coalesce(
    ${STARTED('triggerName', 'trigger_name')}, ${STARTED('triggerType', 'trigger_type')}
  ) = :trigger and ${AMONG_NEWEST}`

/** The starter of a run, as votes name approvers. */
const STARTED_BY = `coalesce(
  'operator:' || ${STARTED('person', 'person')},
  case ${STARTED('triggerType', 'trigger_type')} when 'operator' then 'operator:' else 'key:' end
    || ${STARTED('triggeredBy', 'triggered_by')})`

export const WITH_PERSON_IN = `(${STARTED_BY} = :person and ${AMONG_NEWEST}
  or ${WITH_VOTE_OF.replace(':approver', ':person')})`

/** Sessions whose metadata has the member `:metadataKey` with the JSON text `:metadataValue`, among the newest. */
export const WITH_METADATA_MEMBER = `s.metadata is not null
  and (s.metadata::json -> :metadataKey)::text = :metadataValue and ${AMONG_NEWEST}`

/**
 * The words of a text as a query: all of them, each also as the beginning of a longer one. A word with marks inside, such as
 * `A-1042`, stays together. Undefined if there are none.
 */
export function toTextQuery(text: string): string | undefined {
  const words = text.split(/\s+/).flatMap((word) => {
    const parts = word.toLowerCase().match(/[\p{L}\p{N}]+/gu)
    return parts ? [`${parts.map((part) => `'${part}'`).join(' <-> ')}:*`] : []
  })
  return words.length === 0 ? undefined : words.map((word) => `(${word})`).join(' & ')
}
