/** Runs of all agents, newest first, with those that wait on top. */
import { useState } from 'preact/hooks'
import type { OperatorList } from '../../../operations/schema.ts'
import type { RunView } from '../../../operations/runs.ts'
import { describeCost } from '../../../spec/price.ts'
import { announce } from '../../parts/announce.ts'
import { downloadText, writeCsv } from '../../parts/download.ts'
import type { View } from '../../parts/view.ts'
import { EmptyState, ErrorNote, Loading } from '../../parts/states.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { address } from '../../wire/navigation.ts'
import { callOperator, findRefusal } from '../../wire/request.ts'
import { aboutAnySession, useResource } from '../../wire/resource.ts'
import { RunFacets, RunSearchField } from './run-filters.tsx'
import { RunTable } from './run-table.tsx'
import { serverTime } from '../../wire/moment.ts'

const PAGE = 50
/** Runs of one request. */
const MOST_READ = 500
/** Runs of one file. */
const MOST_EXPORTED = 10_000

const STATES = [
  ['', 'All'],
  ['waiting', 'Waiting'],
  ['running', 'Running'],
  ['failed', 'Failed'],
  ['completed', 'Completed'],
] as const

const FILTERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  waiting: { waiting: 'true' },
  running: { status: 'Running' },
  failed: { status: 'Failed,Cancelled' },
  completed: { status: 'Completed' },
}

/** Parameters of the address that the server reads as they are. */
const SENT = ['search', 'agent', 'version', 'trigger', 'person', 'tool', 'sort', 'minTokens', 'minCost'] as const

export function RunsScreen(): View {
  const { query } = address.value
  const given = (name: string): string => query.get(name) ?? ''
  const [state, sort, seconds] = [given('state'), given('sort'), given('seconds')]
  const [take, setTake] = useState(PAGE)
  const read = (page: Readonly<Record<string, string>>): Promise<OperatorList<RunView>> =>
    callOperator('GET /runs', {
      query: {
        roots: 'true',
        preview: 'true',
        ...page,
        ...FILTERS[state],
        ...Object.fromEntries(SENT.map((name) => [name, query.get(name) || undefined])),
        since: toMidnight(given('from'), 'T00:00') ?? toMoment(given('since')),
        minDuration: seconds ? `${seconds}000` : undefined,
        until: toMidnight(given('to'), 'T24:00'),
      },
    })
  const runs = useResource(
    `runs ${query} ${take}`,
    () => read({ take: String(Math.min(take, MOST_READ)) }),
    aboutAnySession,
  )
  const items = runs.value?.items
  // Those that wait come first, unless somebody looks for something else.
  const sorted =
    state === '' && sort === '' && items ? items.toSorted((a, b) => Number(waits(b)) - Number(waits(a))) : items
  return (
    <section class="screen">
      <header class="screen-head">
        <h1>Runs</h1>
        <RunSearchField value={given('search')} />
        <button type="button" class="button small" disabled={!items?.length} onClick={() => void exportRuns(read)}>
          Export CSV
        </button>
      </header>
      <div class="filters">
        <Tabs label="Which runs" name="state" tabs={STATES} />
        <RunFacets />
      </div>
      <ErrorNote error={runs.error} />
      {sorted === undefined && <Loading />}
      {sorted?.length === 0 && (
        <EmptyState icon="runs" title={query.size > 0 ? 'No runs match.' : 'No run was started yet.'}>
          {query.size > 0 && (
            <p>
              <a href="/runs">Clear filters</a>
            </p>
          )}
        </EmptyState>
      )}
      {sorted !== undefined && sorted.length > 0 && <RunTable items={sorted} />}
      {items && items.length >= take && take < MOST_READ && (
        <p class="more">
          <button type="button" class="button" onClick={() => setTake(take + 100)}>
            Show more
          </button>
        </p>
      )}
    </section>
  )
}

/** @param age milliseconds; the address may hold anything */
const toMoment = (age: string): string | undefined =>
  /^[1-9]\d{0,11}$/.test(age) ? new Date(serverTime() - Number(age)).toISOString() : undefined

/** The end or the beginning of a day of the person; undefined for anything else than a date. */
function toMidnight(date: string, time: string): string | undefined {
  const at = new Date(date + time)
  return Number.isNaN(+at) ? undefined : at.toISOString()
}

/** Everything that the filters let through, in the order of the server. */
async function exportRuns(
  read: (page: Readonly<Record<string, string>>) => Promise<OperatorList<RunView>>,
): Promise<void> {
  const all: RunView[] = []
  const refusal = await findRefusal(async () => {
    for (let total = Infinity; all.length < Math.min(total, MOST_EXPORTED);) {
      const page = await read({ skip: String(all.length), take: String(MOST_READ) })
      if (page.items.length === 0) break
      all.push(...page.items)
      total = page.total
    }
  })
  if (refusal) return announce(refusal.message)
  const rows = all.map((run) => [
    run.runId,
    run.sessionId,
    run.agent,
    run.versionLabel,
    run.status,
    run.startedAt,
    run.finishedAt,
    run.totalTokensUsed,
    run.cost && describeCost(run.cost),
    run.trigger,
    run.inputPreview,
  ])
  downloadText('runs.csv', 'text/csv', writeCsv(EXPORTED, rows))
  announce(`Exported ${all.length} runs.`)
}

const EXPORTED = [
  'run',
  'session',
  'agent',
  'version',
  'status',
  'started',
  'finished',
  'tokens',
  'cost',
  'trigger',
  'input',
] as const

const waits = ({ status }: RunView): boolean => status.startsWith('WaitingFor')
