/** Runs of all agents, newest first, with those that wait on top. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { safeText } from '../../base/escape-text.ts'
import { shortDuration, shortId } from '../../base/short-text.ts'
import type { OperatorList } from '../../spec/operator.ts'
import type { RunView } from '../../spec/operator-views.ts'
import { describeCost } from '../../spec/price.ts'
import { StatusBadge } from '../parts/badge.ts'
import { announce } from '../parts/announce.ts'
import { downloadText, writeCsv } from '../parts/download.ts'
import { html, type View } from '../parts/html.ts'
import { Icon } from '../parts/icon.ts'
import { Age } from '../parts/moments.ts'
import { SavedViews } from '../parts/saved-views.ts'
import { EmptyState, ErrorNote, Loading } from '../parts/states.ts'
import { now } from '../wire/moment.ts'
import { address, goTo, withQuery } from '../wire/navigation.ts'
import { callOperator, RequestError } from '../wire/request.ts'
import { aboutAnySession, useResource } from '../wire/resource.ts'

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

const SINCE = [
  ['', 'any time'],
  ['3600000', 'last hour'],
  ['86400000', 'last day'],
  ['604800000', 'last 7 days'],
] as const

export function RunsScreen(): View {
  const { query } = address.value
  const [state, agent, search, since] = ['state', 'agent', 'search', 'since'].map((name) => query.get(name) ?? '')
  const [take, setTake] = useState(PAGE)
  const read = (page: Readonly<Record<string, string>>): Promise<OperatorList<RunView>> =>
    callOperator('GET /runs', {
      query: {
        roots: 'true',
        preview: 'true',
        ...page,
        ...FILTERS[state!],
        agent: agent || undefined,
        search: search || undefined,
        since: since ? new Date(Date.now() - Number(since)).toISOString() : undefined,
      },
    })
  const runs = useResource(
    `runs ${[state, agent, search, since].join('\n')} ${take}`,
    () => read({ take: String(Math.min(take, MOST_READ)) }),
    aboutAnySession,
  )
  const agents = useResource(
    'agents',
    () => callOperator('GET /agents'),
    ({ workspace }) => workspace,
  )
  const items = runs.value.value?.items
  // Those that wait come first, unless somebody looks for something else.
  const sorted = state === '' && items ? items.toSorted((a, b) => Number(waits(b)) - Number(waits(a))) : items
  return html`
    <section class="screen">
      <header class="screen-head">
        <h1>Runs</h1>
        <${Search} value=${search!} />
      </header>
      <div class="filters">
        <nav class="tabs" aria-label="Which runs">
          ${STATES.map(([name, label]) => html`<a key=${name} href=${withQuery({ state: name })} aria-current=${state === name ? 'page' : undefined}>${label}</a>`)}
        </nav>
        <${Choice}
          label="Agent"
          name="agent"
          value=${agent!}
          options=${[['', 'every agent'], ...(agents.value.value?.items ?? []).map(({ name }) => [name, safeText(name)])]}
        />
        <${Choice} label="Since" name="since" value=${since!} options=${SINCE} />
        <${SavedViews} list="runs" />
        <button type="button" class="button small" disabled=${!items?.length} onClick=${() => void exportRuns(read)}>
          Export CSV
        </button>
      </div>
      <${ErrorNote} error=${runs.error.value} />
      ${
        sorted === undefined
          ? html`<${Loading} />`
          : sorted.length === 0
            ? html`<${EmptyState}
                icon="runs"
                title=${search || agent || state ? 'No run is like that.' : 'No run was started yet.'}
              />`
            : html`<${RunTable} items=${sorted} />`
      }
      ${items && items.length >= take && take < MOST_READ && html`<p class="more"><button type="button" class="button" onClick=${() => setTake(take + 100)}>Show more</button></p>`}
    </section>
  `
}

/** Everything that the filters let through, in the order of the server. */
async function exportRuns(
  read: (page: Readonly<Record<string, string>>) => Promise<OperatorList<RunView>>,
): Promise<void> {
  const all: RunView[] = []
  try {
    for (let total = Infinity; all.length < Math.min(total, MOST_EXPORTED);) {
      const page = await read({ skip: String(all.length), take: String(MOST_READ) })
      if (page.items.length === 0) break
      all.push(...page.items)
      total = page.total
    }
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return announce(error.message)
  }
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

/** Milliseconds after the last key before it is searched. */
const SEARCH_AFTER_MS = 250

function Search({ value }: { readonly value: string }): View {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setText(value), [value])
  return html`
    <div class="search">
      <${Icon} name="search" />
      <input
        type="search"
        placeholder="Search ids, inputs, outputs"
        aria-label="Search runs"
        value=${text}
        onInput=${(event: { currentTarget: HTMLInputElement }) => {
          const typed = event.currentTarget.value
          setText(typed)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => goTo(withQuery({ search: typed.trim() }), true), SEARCH_AFTER_MS)
        }}
      />
      <kbd>/</kbd>
    </div>
  `
}

function Choice({
  label,
  name,
  value,
  options,
}: {
  readonly label: string
  readonly name: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
}): View {
  return html`
    <label class="choice-of">
      <span class="unseen">${label}</span>
      <select
        value=${value}
        onChange=${(event: { currentTarget: HTMLSelectElement }) => goTo(withQuery({ [name]: event.currentTarget.value }), true)}
      >
        ${options.map(([each, text]) => html`<option key=${each} value=${each} selected=${each === value}>${text}</option>`)}
      </select>
    </label>
  `
}

const RunTable = ({ items }: { readonly items: readonly RunView[] }): View => html`
  <div class="table-wrap" role="region" aria-label="Runs" tabindex="0">
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col">Agent</th>
          <th scope="col">Input</th>
          <th scope="col" class="num">Tokens</th>
          <th scope="col" class="num">Cost</th>
          <th scope="col" class="num">Took</th>
          <th scope="col">Started</th>
        </tr>
      </thead>
      <tbody>
        ${items.map(
          (run) => html`
            <tr key=${run.runId}>
              <td class="id"><a href=${`/runs/${run.runId}`} title=${run.runId}>${shortId(run.runId)}</a></td>
              <td>
                <${StatusBadge}
                  status=${run.status}
                />${run.waitingOn !== undefined && html`<span class="sub">${safeText(run.waitingOn)}</span>`}${run.hold && html`<span class="sub">held: ${safeText(run.hold.reason)}</span>`}
              </td>
              <td class="agent">
                <span>${safeText(run.agent)}</span><span class="sub">${safeText(run.versionLabel)}</span>
              </td>
              <td class="preview"><code>${safeText(run.inputPreview ?? '')}</code></td>
              <td class="num">${run.totalTokensUsed.toLocaleString('en')}</td>
              <td class="num">${run.cost ? safeText(describeCost(run.cost) ?? '') : ''}</td>
              <td class="num">
                ${shortDuration((run.finishedAt === null ? now.value : Date.parse(run.finishedAt)) - Date.parse(run.startedAt))}
              </td>
              <td class="when"><${Age} at=${run.startedAt} /></td>
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`
