/** The timeline of a run: a tree of steps beside bars of time. Only the rows in sight are drawn, so that ten thousand are as fast as ten. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { safeText } from '../../base/text/escape-text.ts'
import { shortDuration } from '../../base/text/short-text.ts'
import type { View } from '../parts/view.ts'
import type { Holder } from '../parts/holder.ts'
import { Icon, type IconName } from '../parts/icon.tsx'
import type { TimeAxis } from './axis.ts'
import { Minimap } from './minimap.tsx'
import { describeReport, shareOf, type CallProgress, type ProgressOfCalls } from './use-progress.ts'
import type { Timeline, TimelineRow } from './tree.ts'

/** The same for every row: what is in sight follows from it. */
const ROW_HEIGHT = 30
/** Rows drawn above and below those in sight. */
const BEYOND = 10
/** Rows shown without scrolling inside the page. */
const MAX_HEIGHT = 22 * ROW_HEIGHT

const ICONS: Readonly<Record<string, IconName>> = {
  UserMessage: 'message',
  Reasoning: 'model',
  ToolCall: 'tool',
  ToolResult: 'tool',
  SubAgentCall: 'agents',
  SubAgentResult: 'agents',
  UserTaskReq: 'person',
  UserTaskRes: 'person',
  AitlRequest: 'agents',
  AitlResponse: 'agents',
  PolicyDecision: 'policies',
  LimitReached: 'warning',
  Output: 'check',
}

const NAMES: Readonly<Record<string, string>> = {
  UserMessage: 'Message',
  Reasoning: 'Model',
  ToolCall: 'Call',
  ToolResult: 'Result',
  SubAgentCall: 'Agent',
  SubAgentResult: 'Agent result',
  UserTaskReq: 'Task',
  UserTaskRes: 'Decision',
  PolicyDecision: 'Policy',
  LimitReached: 'Limit',
  OutputValidation: 'Check of output',
  RunResumed: 'Resumed',
  UndoRequested: 'Undo',
  RunCompleted: 'Run ended',
  SessionCompleted: 'Session ended',
}

/** The name of a step's type for people. */
export const nameOfStep = (type: string): string => NAMES[type] ?? safeText(type)

export function TimelineView({
  timeline,
  change,
  chosen,
  closed,
  now,
  isLive,
  progress,
  onChoose,
  onToggle,
}: {
  readonly timeline: Holder<Timeline>
  /** Another number where the timeline is another. */
  readonly change: number
  readonly chosen: number | undefined
  readonly closed: ReadonlySet<number>
  readonly now: number
  readonly isLive: boolean
  readonly progress: ProgressOfCalls
  readonly onChoose: (ordinal: number) => void
  readonly onToggle: (run: number) => void
}): View {
  const box = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  // No function below may refer to these: it would keep them.
  const { rows, axis, waits } = timeline.current
  const height = Math.min(MAX_HEIGHT, rows.length * ROW_HEIGHT)
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - BEYOND)
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_HEIGHT) + BEYOND)
  const at = chosen === undefined ? -1 : rows.findIndex(({ ordinal }) => ordinal === chosen)
  useEffect(() => {
    const element = box.current
    if (!element || at < 0) return
    const y = at * ROW_HEIGHT
    if (y < element.scrollTop || y + ROW_HEIGHT > element.scrollTop + height) element.scrollTop = y - height / 2
  }, [at])
  const move = (event: KeyboardEvent): void => {
    const all = timeline.current.rows
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -all.length, End: all.length }[event.key]
    const row = all[at]
    if (step !== undefined) {
      event.preventDefault()
      const next =
        all[Math.max(0, Math.min(all.length - 1, Math.max(at, 0) + (at < 0 && Math.abs(step) === 1 ? 0 : step)))]
      if (next) onChoose(next.ordinal)
    } else if (row?.child !== undefined && (event.key === 'ArrowRight' || event.key === 'ArrowLeft')) {
      event.preventDefault()
      if (closed.has(row.child) === (event.key === 'ArrowRight')) onToggle(row.child)
    }
  }
  const isLong = rows.length * ROW_HEIGHT > height
  const end = rows.length * ROW_HEIGHT - height
  const go = (y: number): void => box.current?.scrollTo(0, y)
  // Whoever looks at the newest row goes on doing so.
  const wasAtEnd = useRef(false)
  useEffect(() => {
    if (isLive && wasAtEnd.current) go(end)
  }, [end])
  wasAtEnd.current = top >= end - ROW_HEIGHT
  // A row that comes into sight takes the elements of one that left: making new ones is most of what a scroll would cost.
  const slots = Math.ceil(height / ROW_HEIGHT) + 2 * BEYOND + 1
  const inSight: View[] = []
  for (let number = first; number < last; number++) {
    const row = rows[number]
    if (!row) break
    inSight.push(
      <Row
        key={number % slots}
        row={row}
        number={number}
        isChosen={row.ordinal === chosen}
        isClosed={row.child !== undefined && closed.has(row.child)}
        from={axis.place(row.from)}
        to={axis.place(row.to ?? now)}
        took={(row.to ?? now) - row.from}
        report={row.to === null && row.callId !== null ? progress.get(row.callId) : undefined}
        onChoose={onChoose}
        onToggle={onToggle}
      />,
    )
  }
  return (
    <div class="timeline">
      <AxisHead cuts={axis.cuts} waits={waits} />
      <div class="timeline-body">
        <div
          ref={box}
          class="timeline-rows"
          role="treegrid"
          aria-label="Steps"
          aria-rowcount={rows.length}
          aria-activedescendant={at >= first && at < last ? `step-${chosen}` : undefined}
          tabindex={0}
          style={{ height: `${height}px` }}
          onScroll={(event: { currentTarget: HTMLElement }) => setTop(event.currentTarget.scrollTop)}
          onKeyDown={move}
        >
          <div class="timeline-all" role="rowgroup" style={{ height: `${rows.length * ROW_HEIGHT}px` }}>
            {inSight}
            {axis.cuts.map((cut) => (
              <i class="cut-line" key={cut.from} aria-hidden="true" style={{ '--at': cut.at + cut.width / 2 }}></i>
            ))}
          </div>
        </div>
        {isLong && (
          <Minimap
            timeline={timeline}
            change={change}
            height={height}
            top={top / (rows.length * ROW_HEIGHT)}
            shown={height / (rows.length * ROW_HEIGHT)}
            onGo={(share: number) => go(share * rows.length * ROW_HEIGHT - height / 2)}
          />
        )}
      </div>
      {isLive && (
        <p class="live-note">
          <span class="health live"></span>live{' '}
          {isLong && !wasAtEnd.current && (
            <button type="button" class="link" onClick={() => go(end)}>
              Jump to newest
            </button>
          )}
        </p>
      )}
    </div>
  )
}

const AxisHead = ({ cuts, waits }: { readonly cuts: TimeAxis['cuts']; readonly waits: Timeline['waits'] }): View => (
  <div class="axis-head">
    {cuts.map((cut, at) => {
      const text = `waited ${shortDuration(cut.to - cut.from)}${waits[at] ? ` ${waits[at]}` : ''}`
      return (
        <span class="axis-cut" key={cut.from} title={text} style={{ '--at': cut.at + cut.width / 2 }}>
          {text}
        </span>
      )
    })}
  </div>
)

/** What the tool of a call says while it works. */
function Report(report: CallProgress): View {
  const share = shareOf(report)
  return (
    <span class="step-report">
      {share !== undefined && (
        <span class="deadline-bar">
          <span style={{ width: `${share * 100}%` }}></span>
        </span>
      )}
      {safeText(describeReport(report))}
    </span>
  )
}

function Row({
  row,
  number,
  isChosen,
  isClosed,
  from,
  to,
  took,
  report,
  onChoose,
  onToggle,
}: {
  readonly row: TimelineRow
  readonly number: number
  readonly isChosen: boolean
  readonly isClosed: boolean
  readonly from: number
  readonly to: number
  readonly took: number
  readonly report: CallProgress | undefined
  readonly onChoose: (ordinal: number) => void
  readonly onToggle: (run: number) => void
}): View {
  const { child } = row
  const tone = row.isError ? 'bad' : row.type
  return (
    <div
      id={`step-${row.ordinal}`}
      class={`step ${isChosen ? 'chosen' : ''} ${row.isError ? 'bad' : ''}`}
      role="row"
      aria-level={row.level + 1}
      aria-rowindex={number + 1}
      aria-posinset={row.place}
      aria-setsize={row.siblings.count}
      aria-selected={isChosen}
      aria-expanded={child === undefined ? undefined : !isClosed}
      style={{ transform: `translateY(${number * ROW_HEIGHT}px)` }}
      onClick={() => onChoose(row.ordinal)}
    >
      <span class="step-name" role="gridcell" style={{ paddingLeft: `${row.level * 18}px` }}>
        {child === undefined ? (
          <span class="step-twist"></span>
        ) : (
          <button
            type="button"
            class={`step-twist ${isClosed ? '' : 'open'}`}
            tabindex={-1}
            aria-label={isClosed ? 'Open' : 'Close'}
            onClick={(event: Event) => {
              event.stopPropagation()
              onToggle(child)
            }}
          >
            <Icon name="right" />
          </button>
        )}
        <Icon name={ICONS[row.type] ?? 'dot'} />
        <span class="step-type">{nameOfStep(row.type)}</span>
        <span class="step-summary">{safeText(row.summary)}</span>
        {report && <Report {...report} />}
      </span>
      <span class="step-took" role="gridcell">
        {row.to === null ? <span class="unseen">so far </span> : ''}
        {took >= 1 ? shortDuration(took) : ''}
      </span>
      <span class="step-track" role="gridcell" aria-hidden="true">
        <i
          class={`step-bar ${tone} ${row.to === null ? 'open' : ''}`}
          style={{ left: `${from * 100}%`, width: `${Math.max(0, to - from) * 100}%` }}
        ></i>
      </span>
    </div>
  )
}
