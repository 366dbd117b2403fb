/** One run: what it is doing, its timeline, and what was said. */
import { useMemo, useRef, useState } from 'preact/hooks'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { RunStatusBody } from '../../../spec/api.ts'
import type { OutlineRow, RunBudget, RunOutline } from '../../../operations/runs.ts'
import { describeCost } from '../../../spec/price.ts'
import { StatusBadge } from '../../parts/badge.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'
import { isFilled, useHolder, type Holder } from '../../parts/holder.ts'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { Age, TimeTaken } from '../../parts/moments.tsx'
import { EmptyState, ErrorNote, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { inboxState } from '../../wire/inbox-count.ts'
import { now } from '../../wire/moment.ts'
import { address, goTo, withQuery } from '../../wire/navigation.ts'
import { callOperator } from '../../wire/request.ts'
import { aboutSession, useResource } from '../../wire/resource.ts'
import { createTimeline, findAnswer } from '../../timeline/tree.ts'
import { useProgress } from '../../timeline/use-progress.ts'
import { TimelineView } from '../../timeline/timeline-view.tsx'
import { EffectsTab } from './run-effects.tsx'
import { ConversationTab, EventsTab, RawTab } from './run-tabs.tsx'
import { RunActions } from './run-actions.tsx'
import { StepPanel } from './step.tsx'
import { WhyTab } from './why.tsx'
import { useSignal } from '../../wire/use-signal.ts'

const TABS = [
  ['timeline', 'Timeline'],
  ['conversation', 'Conversation'],
  ['why', 'Why'],
  ['effects', 'Effects'],
  ['events', 'Events'],
  ['raw', 'Raw'],
] as const

export function RunScreen({ id = '' }: { readonly id?: string }): View {
  const held = useRef<RunOutline | undefined>(undefined)
  // The beginning of a long run is shown while the rest is read.
  const [begun, setBegun] = useState<RunOutline | undefined>(undefined)
  // Of another run until this one is read: until then every hint may be about it.
  const sessionId = (): string | undefined => (held.current?.runId === id ? held.current.sessionId : undefined)
  const status = useResource(`run ${id}`, () => callOperator('GET /v1/runs/:id', { id }), aboutSession(sessionId))
  const isErased = status.value?.erasedAt !== undefined
  const outline = useResource(
    `outline ${id} ${isErased}`,
    async () => {
      const before = held.current?.runId === id && !isErased ? held.current : undefined
      return (held.current = await readOutline(id, before, setBegun))
    },
    aboutSession(sessionId),
  )
  const read = outline.value ?? (begun?.runId === id ? begun : undefined)
  const [holder, change] = useHolder(read)
  const error = outline.error ?? status.error
  if (error?.status === 404) return <EmptyState icon="runs" title="There is no such run." isScreen />
  if (!read || !isFilled(holder)) return error ? <ErrorNote error={error} /> : <Loading rows={10} />
  const showTab = (): View => {
    switch (address.value.query.get('tab')) {
      case 'conversation':
        return <ConversationTab id={id} last={read.after} />
      case 'why':
        return <WhyTab id={id} last={read.after} call={callOfStep(read)} />
      case 'effects':
        return <EffectsTab id={id} last={read.after} />
      case 'events':
        return <EventsTab id={id} last={read.after} />
      case 'raw':
        return <RawTab status={status.value} runs={read.runs} />
      default:
        return <TimelineTab id={id} outline={holder} change={change} />
    }
  }
  return (
    <section class="screen run">
      <a class="back-link" href="/runs">
        <Icon name="left" />
        Runs
      </a>
      <RunHead outline={holder} change={change} status={status.value} />
      <ErrorNote error={error} />
      <WaitingNote sessionId={read.sessionId} />
      <Tabs label="What of the run" tabs={TABS} kind="run-tabs" />
      {showTab()}
    </section>
  )
}

/** The call that the step of the address is about. */
const callOfStep = ({ rows }: RunOutline): string | undefined =>
  rows.find(([ordinal]) => String(ordinal) === address.value.query.get('step'))?.[7] ?? undefined

/** Rows that are read and shown before the rest of a long run. */
const FIRST_ROWS = '1000'

/** Goes on where the last reading ended, but for steps that were open then. */
async function readOutline(
  id: string,
  before: RunOutline | undefined,
  onBegun: (part: RunOutline) => void,
): Promise<RunOutline> {
  const kept = before ? before.rows.slice(0, firstOpen(before.rows)) : []
  const rows: OutlineRow[] = [...kept]
  let after = kept.at(-1)?.[0] ?? 0
  for (;;) {
    const part = await callOperator('GET /runs/:id/outline', {
      id,
      query: { after: String(after), ...(rows.length === 0 && { take: FIRST_ROWS }) },
    })
    rows.push(...part.rows)
    after = part.after
    if (!part.hasMore) return { ...part, rows }
    if (!before) onBegun({ ...part, rows: [...rows] })
  }
}

const firstOpen = (rows: readonly OutlineRow[]): number => {
  const at = rows.findIndex((row) => row[5] === null)
  return at < 0 ? rows.length : at
}

interface OutlineProps {
  readonly outline: Holder<RunOutline>
  /** Another number where the outline is another. */
  readonly change: number
}

function RunHead({
  outline,
  status,
}: OutlineProps & {
  readonly status: RunStatusBody | undefined
}): View {
  const { error, hold, erasedAt } = status ?? {}
  const { runs, rows, after, budgets } = outline.current
  const run = runs[0]!
  // The limit counts those of the whole tree, a list of runs those of each.
  const tokens = runs.length > 1 ? 'Tokens with sub-agents' : 'Tokens'
  const facts: readonly Fact[] = [
    ['Started', <Age at={run.startedAt} />],
    ['Took', <TimeTaken from={run.startedAt} until={run.finishedAt} />],
    ...(budgets.some(({ limit }) => limit === 'max_tokens_per_run')
      ? []
      : [[tokens, runs.reduce((sum, each) => sum + each.totalTokensUsed, 0).toLocaleString('en')] as const]),
    ...budgets.map((budget): Fact => [
      budget.limit === 'max_tokens_per_run' ? tokens : BUDGETS[budget.limit],
      <BudgetMeter {...budget} />,
    ]),
    ...(run.cost ? [['Cost', safeText(describeCost(run.cost) ?? '')] as const] : []),
    ['Steps', rows.length.toLocaleString('en')],
    ...(runs.length > 1 ? [['Sub-agents', String(runs.length - 1)] as const] : []),
  ]
  return (
    <header class="run-head">
      <div class="run-title">
        <h1>
          <a href={`/agents/${encodeURIComponent(run.agent)}`}>{safeText(run.agent)}</a>
          <span class="dim">@{safeText(run.versionLabel)}</span>
        </h1>
        <code class="dim" title={run.runId}>
          {shortId(run.runId)}
        </code>
        <StatusBadge status={run.status} />
        {hold && (
          <span class="dim">
            held: {safeText(hold.reason.replaceAll('_', ' '))}, since <Age at={hold.since} />
          </span>
        )}
      </div>
      <RunActions run={run} last={after} status={status} />
      {erasedAt !== undefined && (
        <p class="note">
          <Icon name="warning" />
          <span>
            Its content was erased <Age at={erasedAt} />: what it was given, said and made is not kept any more.
          </span>
        </p>
      )}
      {error !== undefined && error !== '' && (
        <p class="note bad">
          <Icon name="warning" />
          <span>{safeText(error)}</span>
        </p>
      )}
      {run.status === 'Failed' && <FirstFailedCall rows={rows} />}
      <Facts facts={facts} />
    </header>
  )
}

/** Where it began: the last error of a run is often only what came of it. */
function FirstFailedCall({ rows }: { readonly rows: readonly OutlineRow[] }): View | null {
  const failed = rows.find((row) => row[8] === 1 && row[2] === 'ToolResult')
  if (!failed) return null
  const call = rows.find((row) => row[2] === 'ToolCall' && row[1] === failed[1] && row[7] === failed[7])
  return (
    <p class="note bad">
      <Icon name="warning" />
      <span>
        First failed call:
        <a href={withQuery({ tab: undefined, step: String((call ?? failed)[0]) })}>{safeText(call?.[3] ?? '')}</a>
        {safeText(failed[3])}
      </span>
    </p>
  )
}

const BUDGETS: Readonly<Record<Exclude<RunBudget['limit'], 'max_tokens_per_run'>, string>> = {
  max_loop_iterations: 'Model calls',
  max_wall_clock_seconds: 'Seconds of work',
  max_hitl_wait_minutes: 'Minutes of waiting',
}

const BudgetMeter = ({ used, most }: RunBudget): View => (
  <>
    {used.toLocaleString('en')}
    <span class="dim"> of {most.toLocaleString('en')}</span>
    <span class={`deadline-bar ${used > 0.8 * most ? 'urgent' : ''}`}>
      <span style={{ width: `${Math.min(1, used / most) * 100}%` }}></span>
    </span>
  </>
)

/** What the run waits for, with a link to where it is answered. */
function WaitingNote({ sessionId: id }: { readonly sessionId: string }): View | null {
  const waiting = useSignal(inboxState).value?.items.filter(({ sessionId }) => sessionId === id) ?? []
  if (waiting.length === 0) return null
  return (
    <div class="note waiting">
      <Icon name="person" />
      <span>
        {waiting.map(({ userTaskId, why, tool, kind }) => (
          <span key={userTaskId}>
            {safeText(tool ?? kind.replaceAll('_', ' '))}
            <span class="dim"> {safeText(why)} </span>
            <a class="button small primary" href={`/inbox/${userTaskId}`}>
              Decide
            </a>
          </span>
        ))}
      </span>
    </div>
  )
}

function TimelineTab({ id, outline, change }: OutlineProps & { readonly id: string }): View {
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set())
  const { query } = address.value
  const all = query.get('all') === '1'
  const chosen = query.has('step') ? Number(query.get('step')) : undefined
  const root = outline.current.runs[0]!
  const isLive = root.finishedAt === null
  const time = useSignal(now)
  const at = isLive ? time : 0
  const timeline = useMemo(() => createTimeline(outline.current, { all, closed, now: at }), [change, all, closed, at])
  const [held, redrawn] = useHolder(timeline)
  const choose = (ordinal: number): void => goTo(withQuery({ step: String(ordinal) }), true)
  const isCalling = outline.current.rows.some((row) => row[2] === 'ToolCall' && row[5] === null)
  const progress = useProgress(id, root.status === 'Running' && isCalling, outline.current.lastEvent)
  const toggle = (run: number): void => {
    const next = new Set(closed)
    if (!next.delete(run)) next.add(run)
    setClosed(next)
  }
  return (
    <>
      <div class="timeline-tools">
        <label class="switch">
          <input type="checkbox" checked={all} onChange={() => goTo(withQuery({ all: all ? undefined : '1' }), true)} />
          <span>Every step</span>
        </label>
        <span class="dim">
          {timeline.rows.length.toLocaleString('en')} of {outline.current.rows.length.toLocaleString('en')}
        </span>
      </div>
      <div class={`run-body ${chosen === undefined ? '' : 'has-step'}`}>
        <TimelineView
          timeline={held}
          change={redrawn}
          chosen={chosen}
          closed={closed}
          now={time}
          isLive={isLive}
          progress={progress}
          onChoose={choose}
          onToggle={toggle}
        />
        {chosen !== undefined && (
          <StepPanel
            runId={id}
            isRoot={root.parentRunId === null}
            ordinal={chosen}
            answer={findAnswer(outline.current.rows, chosen)}
            onClose={() => goTo(withQuery({ step: undefined }), true)}
          />
        )}
      </div>
    </>
  )
}
