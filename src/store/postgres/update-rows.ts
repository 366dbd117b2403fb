/** The rows of a batch of updates: a list per table, as `write_rows` takes them; spends go with their save, which they count in. */
import type { RunId } from '../../base/ids.ts'
import type { SessionUpdate } from '../session-update.ts'
import { toNewLink, type NewLink } from '../rows/link-rows.ts'
import { toCallColumns } from './calls.ts'
import { toJsonRows } from './database/named-values.ts'
import { toEventColumns } from './events.ts'
import { toRunColumns } from './runs.ts'
import { toEndColumns, toStepColumns } from './steps.ts'
import { toTaskColumns, toVoteColumns } from './tasks.ts'
import { toClearColumns, toTimerColumns } from './timers.ts'

/** The rows of a batch of updates. */
export interface UpdateRows {
  /** The JSON text of each list, in the order of the arguments of `save_sessions`; null if it is empty. */
  readonly lists: readonly (string | null)[]
  /** The link of each update; undefined where it adds none. */
  readonly links: readonly (NewLink | undefined)[]
}

export function toUpdateRows(updates: readonly SessionUpdate[]): UpdateRows {
  const written = updates.map((update) => {
    const { session, events, runs } = update
    const changed = new Map<RunId, (typeof runs)[number]>(runs.map((run) => [run.id, run]))
    const steps = update.steps.map((step) => toStepColumns(session.id, step))
    const eventRows = events.map((event) => toEventColumns(session.id, event, changed.get(event.runId)))
    const texts = steps.map(({ columns: { content, result_digest: resultDigest, hidden } }) => ({
      content,
      resultDigest,
      hidden,
    }))
    const data = eventRows.map((row) => (row.ordinal === null ? row.data : null))
    return { steps, eventRows, link: toNewLink(update, { steps: texts, data }) }
  })
  const steps = written.flatMap((each) => each.steps)
  const lists: readonly (readonly object[])[] = [
    lastOfEach(
      steps.flatMap(({ large }) => large ?? []),
      ({ digest }) => digest,
    ),
    lastOfEach(
      updates.flatMap(({ session, runs }) => runs.map((run) => toRunColumns(session.id, run))),
      ({ id }) => id,
    ),
    steps.map(({ columns }) => columns),
    updates.flatMap(({ session, closedSteps }) => closedSteps.map((end) => toEndColumns(session.id, end))),
    updates.flatMap(({ session, tasks }) => tasks.map((task) => toTaskColumns(session.id, task))),
    updates.flatMap(({ tasks }) => tasks.flatMap(toVoteColumns)),
    lastOfEach(
      updates.flatMap(({ session, calls }) => calls.map((call) => toCallColumns(session.id, call))),
      ({ session_id, run_id, call_id }) => `${session_id} ${run_id} ${call_id}`,
    ),
    written.flatMap(({ eventRows }) => eventRows),
    updates.flatMap(({ session, clearTimers }) => clearTimers.map((timer) => toClearColumns(session.id, timer))),
    lastOfEach(
      updates.flatMap(({ session, setTimers }) => setTimers.map((timer) => toTimerColumns(session.id, timer))),
      ({ session_id, run_id, kind, ref }) => `${session_id} ${run_id} ${kind} ${ref}`,
    ),
  ]
  return { lists: lists.map(toJsonRows), links: written.map(({ link }) => link) }
}

/** A statement may touch a row only once, so of rows with the same key the last one counts. */
function lastOfEach<Row>(rows: readonly Row[], keyOf: (row: Row) => string): readonly Row[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]))
  return byKey.size === rows.length ? rows : [...byKey.values()]
}
