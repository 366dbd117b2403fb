/** A run that writes some two hundred steps a second, and what the page of it costs a browser meanwhile (C4). */
import { tmpdir } from 'node:os'
import type { CDPSession, Page } from '../../test/console/chromium.ts'
import { silentLog } from '../../src/base/log.ts'
import { digestOf } from '../../src/base/digest.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { openServer } from '../../src/server/open.ts'
import { snapshotOf } from '../../test/server/fixtures.ts'

/** Of one turn, each three steps: the decision, the call and its result. */
const CALLS = 8
const TURN_MS = 125
const AGENT = 'acme.busy'

export async function openBusyServer(seconds: number) {
  const server = await openServer({
    workspace: 'acme',
    config: {
      tools: { 'acme.look': { mock: [{ result: { seen: true } }] } },
      limits: { max_loop_iterations: 100_000 },
    },
    configDirectory: tmpdir(),
    env: { SVC_OPERATOR: 'ana' },
    version: '0.1.0',
    log: silentLog,
    console: { port: 0 },
  })
  const ask = async <T>(line: string, body: unknown): Promise<T> => {
    const [method, path] = line.split(' ') as [string, string]
    const headers = { 'content-type': 'application/json' }
    const request = new Request(`http://operator.svc${path}`, { method, headers, body: JSON.stringify(body) })
    const response = await server.operator.fetch(request)
    if (!response.ok) throw new Error(await response.text())
    return (await response.json()) as T
  }
  const call = Array.from({ length: CALLS }, (_, at) => ({ tool: 'look', arguments: { at } }))
  const turns = Math.ceil((seconds * 1000) / TURN_MS) + 40
  const agent = snapshotOf(AGENT, '1.0.0', {
    limits: { max_loop_iterations: turns + 1 },
    model: {
      provider: 'scripted',
      name: 'script',
      script: [...Array.from({ length: turns }, () => ({ call, delay_ms: TURN_MS })), { say: 'Done.' }],
    },
    tools: [
      {
        wire: 'look',
        id: 'acme.look',
        version: '1.0.0',
        description: 'Looks.',
        inputSchemas: [{ type: 'object' }],
        labels: {},
        sideEffectClass: 'read_only',
      },
    ],
    policies: sealSet({ v: 1, compiler: 'bench', agent: AGENT, entries: [], index: { look: [] }, inherited: [] }),
  })
  const bundle = { root: AGENT, agents: [agent], documents: [], closureDigest: digestOf(agent.digest) }
  await ask('POST /publish', { bundle, deploy: true })
  return {
    consoleUrl: server.consoleUrl!,
    address: async () => (await ask<{ url: string }>('POST /console/codes', {})).url,
    start: async () => (await ask<{ runId: string }>('POST /runs', { agent: AGENT, input: {} })).runId,
    close: () => server.close(),
  }
}

export interface LiveCost {
  readonly seconds: number
  readonly steps: number
  /** Tasks of the main thread, by the processor time they took: waiting for a processor is not the page's doing. */
  readonly longestTaskMs: number
  readonly longTasks: number
  readonly heapGrowthMiB: number
}

interface TraceEvent {
  readonly name: string
  readonly tdur?: number
  readonly dur?: number
}

/** Looks at a page that is live for some seconds. @param countSteps of what the page shows */
export async function measureLive(page: Page, seconds: number, countSteps: () => Promise<number>): Promise<LiveCost> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const before = { steps: await countSteps(), heap: await usedHeap(session) }
  const tasks: number[] = []
  session.on('Tracing.dataCollected', ({ value }) => {
    for (const { name, tdur, dur = 0 } of value as unknown as TraceEvent[])
      if (name === 'RunTask' || name === 'ThreadControllerImpl::RunTask') tasks.push((tdur ?? dur) / 1000)
  })
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline', 'toplevel', 'disabled-by-default-devtools.timeline'] },
  })
  await page.waitForTimeout(seconds * 1000)
  const traced = new Promise<void>((done) => session.once('Tracing.tracingComplete', () => done()))
  await session.send('Tracing.end')
  await traced
  const steps = (await countSteps()) - before.steps
  const heap = await usedHeap(session)
  return {
    seconds,
    steps,
    longestTaskMs: tasks.reduce((longest, ms) => Math.max(longest, ms), 0),
    longTasks: tasks.filter((ms) => ms > 50).length,
    heapGrowthMiB: (heap - before.heap) / 1024 / 1024,
  }
}

async function usedHeap(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')!.value
}
