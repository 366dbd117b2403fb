/** The rows of a timeline, from the outline of a run: steps of a sub-agent stand below the call that it answers. */
import type { OutlineRow, OutlineRun, RunOutline } from '../../operations/runs.ts'
import { createAxis, type TimeAxis, type TimeSpan } from './axis.ts'

export interface TimelineRow {
  readonly ordinal: number
  readonly type: string
  readonly summary: string
  readonly from: number
  /** Null while it lasts. */
  readonly to: number | null
  readonly isError: boolean
  /** The call that it makes or answers. */
  readonly callId: string | null
  /** Levels below the run that is shown. */
  readonly level: number
  /** The run that this row started, as its index; absent for every other step. */
  readonly child?: number
  readonly run: number
  /** Its place among the rows of its run that are shown, from 1. */
  readonly place: number
  readonly siblings: Siblings
}

/** Shared by the rows of a run, and counted while they are found. */
interface Siblings {
  count: number
}

export interface Timeline {
  readonly rows: readonly TimelineRow[]
  readonly axis: TimeAxis
  /** What each cut waited for. */
  readonly waits: readonly string[]
}

/** Steps that say something on their own; the others are shown on demand. */
const MAIN: ReadonlySet<string> = new Set([
  'UserMessage',
  'Reasoning',
  'ToolCall',
  'SubAgentCall',
  'UserTaskReq',
  'AitlRequest',
  'LimitReached',
  'Output',
  'RunResumed',
  'UndoRequested',
])

const CALLS: ReadonlySet<string> = new Set(['ToolCall', 'SubAgentCall'])
const ANSWERS: ReadonlySet<string> = new Set(['ToolResult', 'SubAgentResult'])

/** A person, not the machine, takes this time. */
const WAITING: ReadonlySet<string> = new Set(['UserTaskReq', 'AitlRequest'])

export interface ShownSteps {
  /** Every step, not only the main ones. */
  readonly all: boolean
  /** Runs, by index, whose steps are not shown. */
  readonly closed: ReadonlySet<number>
  readonly now: number
}

/** In one pass: each row goes to its run, and a run's rows are put after the call that started it. */
export function createTimeline({ runs, rows }: Pick<RunOutline, 'runs' | 'rows'>, options: ShownSteps): Timeline {
  const ofRun: OutlineRow[][] = runs.map(() => [])
  const decided = new Set<string>()
  const answers = new Map<string, OutlineRow>()
  for (const row of rows) {
    ofRun[row[1]]?.push(row)
    if (ANSWERS.has(row[2])) answers.set(callKeyOf(row), row)
    if (row[2] === 'PolicyDecision' && !row[3].endsWith(' allow')) decided.add(keyOf(row))
  }
  const children = childrenByCall(runs)
  const shown: TimelineRow[] = []
  const add = (run: number, level: number): void => {
    const siblings: Siblings = { count: 0 }
    for (const row of ofRun[run] ?? []) {
      const child = row[7] === null || row[2] !== 'SubAgentCall' ? undefined : children.get(`${run} ${row[7]}`)
      if (
        options.all ||
        MAIN.has(row[2]) ||
        (row[8] === 1 && !ANSWERS.has(row[2])) ||
        (row[2] === 'PolicyDecision' && decided.has(keyOf(row)))
      )
        shown.push(
          toTimelineRow(row, level, child, siblings, CALLS.has(row[2]) ? answers.get(callKeyOf(row)) : undefined),
        )
      if (child !== undefined && !options.closed.has(child)) add(child, level + 1)
    }
  }
  add(0, 0)
  // What undoes a call answers none: it follows what has ended.
  for (const [run, own] of ofRun.entries()) if (own[0]?.[2] === 'UndoRequested') add(run, 1)
  const axis = createAxis(
    rows
      .flatMap((row): TimeSpan[] => (WAITING.has(row[2]) ? [] : [spanOf(row, options.now)]))
      .concat(lastMoment(runs, options.now)),
  )
  return { rows: shown, axis, waits: axis.cuts.map((cut) => describeWait(rows, cut)) }
}

const callKeyOf = ([, run, , , , , , callId]: OutlineRow): string => `${run} ${callId}`

/** The number of the step that answers a call; undefined where `ordinal` is no call, or none has come. */
export function findAnswer(rows: readonly OutlineRow[], ordinal: number): number | undefined {
  const call = rows.find((row) => row[0] === ordinal && CALLS.has(row[2]))
  return call && rows.find((row) => ANSWERS.has(row[2]) && callKeyOf(row) === callKeyOf(call))?.[0]
}

const keyOf = (row: OutlineRow): string => `${row[1]} ${row[0]}`

const spanOf = (row: OutlineRow, now: number): TimeSpan => ({ from: row[4], to: row[5] ?? now })

/** Where a run goes on, the axis ends now. */
const lastMoment = ([root]: readonly OutlineRun[], now: number): TimeSpan[] =>
  root && root.finishedAt === null ? [{ from: now, to: now }] : []

/** The run that answers a call, by the index of the caller's run and the id of the call. */
function childrenByCall(runs: readonly OutlineRun[]): ReadonlyMap<string, number> {
  const numbers = new Map(runs.map(({ runId }, at) => [runId, at]))
  const children = new Map<string, number>()
  for (const [at, { parentRunId, parentCallId }] of runs.entries()) {
    const parent = parentRunId === null ? undefined : numbers.get(parentRunId)
    if (parent !== undefined && parentCallId !== null) children.set(`${parent} ${parentCallId}`, at)
  }
  return children
}

const toTimelineRow = (
  [ordinal, run, type, summary, from, to, , callId, isError]: OutlineRow,
  level: number,
  child: number | undefined,
  siblings: Siblings,
  answer: OutlineRow | undefined,
): TimelineRow => ({
  ordinal,
  run,
  type,
  summary: answer ? `${summary} → ${answer[3]}` : summary,
  from,
  to,
  isError: isError === 1 || answer?.[8] === 1,
  callId,
  level,
  place: ++siblings.count,
  siblings,
  ...(child !== undefined && { child }),
})

/** What was waited for in a gap: the task that was open in it. */
function describeWait(rows: readonly OutlineRow[], { from, to }: TimeSpan): string {
  const open = rows.find(
    ([, , type, , startedAt, finishedAt]) => WAITING.has(type) && startedAt <= from && (finishedAt ?? Infinity) >= to,
  )
  return open ? 'for a person' : ''
}
