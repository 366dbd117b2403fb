/** Metrics and log lines as a real receiver of OTLP gets them: the numbers of `/metrics`, and lines in the trace of their run. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Log } from '../../../src/base/log.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { withRunLog } from '../../../src/server/log/run-log.ts'
import { createMetricRegistry, printMetrics, type MetricRegistry } from '../../../src/server/metrics/registry.ts'
import { withRunMetrics } from '../../../src/server/metrics/run-metrics.ts'
import { openTelemetry } from '../../../src/server/telemetry/open-telemetry.ts'
import { withTraceMarks } from '../../../src/server/telemetry/export-traces.ts'
import { readTelemetrySettings } from '../../../src/server/telemetry/settings.ts'
import { spanOfRun, traceOfRun } from '../../../src/spec/run/run-trace.ts'
import { inOrder, openBench, returns, snapshotOf, tool, WORKSPACE } from '../../engine/bench.ts'
import { waitUntil } from '../../wait-until.ts'
import { closing } from '../running.ts'
import { hasOtlpTools, startReceiver, type Receiver } from './receiver.ts'

const desk = snapshotOf({ name: 'desk', tools: [tool('look')] })

/** Looks that wait for nothing. */
const HASTY = { OTEL_BSP_SCHEDULE_DELAY: '10', OTEL_BLRP_SCHEDULE_DELAY: '10' }

let receiver: Receiver
let url: string

/** A run, all three signals, and what the server says of the export. */
async function openAll(variables: Readonly<Record<string, string>> = {}) {
  const said: string[] = []
  const log: Log = { write: (level, message, values) => said.push(`${level} ${message} ${JSON.stringify(values)}`) }
  const registry = createMetricRegistry()
  const redactor = createRedactor()
  redactor.add('secret-token')
  const clock = { now: () => 1_767_225_600_000 }
  const telemetry = await openTelemetry({
    settings: readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...variables }, true)!,
    version: '1.2.3',
    workspace: { id: WORKSPACE, name: 'test' },
    redactor,
    log,
    clock,
    metrics: registry,
  })
  const bench = await openBench({
    agents: [desk],
    models: { desk: inOrder({ calls: [{ name: 'look', args: {}, id: 'l1' }] }, 'Done.') },
    tools: { look: () => returns('seen') },
    store: (store) =>
      withTraceMarks(
        withRunMetrics(withRunLog(store, telemetry.log ?? { write() {} }, { withTraces: true }), registry, () =>
          performance.now(),
        ),
      ),
  })
  telemetry.exportTraces(bench.store)
  telemetry.exportMetrics(() => registry.collect())
  return { telemetry, registry, said, bench }
}

async function runToEnd(variables?: Readonly<Record<string, string>>) {
  const all = await openAll(variables)
  const id = await all.bench.start('desk')
  await all.bench.waitForEnd(id)
  all.telemetry.log?.write('warn', 'a token leaked', { where: 'secret-token', nested: { deep: 'secret-token' } })
  return { ...all, run: (await all.bench.store.run(id))! }
}

describe.skipIf(!hasOtlpTools)('with node scripts/tools.js test/server/telemetry/otlp', () => {
  beforeEach(async () => {
    receiver = await startReceiver()
    url = receiver.url
    closing(() => receiver.close())
  })

  test.each(['http/protobuf', 'http/json'])('metrics are those of /metrics, over %s', async (protocol) => {
    const { telemetry, registry } = await runToEnd({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol })
    const families = registry.collect()
    await telemetry.close()
    const { metrics } = receiver
    expect([...metrics.keys()].toSorted()).toEqual(
      families.map(({ name }) => name.replace(/_total$/, '').replace(/_seconds$/, '')).toSorted(),
    )
    expect(metrics.get('svc_runs_ended')).toEqual({
      name: 'svc_runs_ended',
      unit: '',
      description: 'Runs that ended; error is empty for completed ones.',
      kind: 'sum',
      isMonotonic: true,
      points: { '{"agent":"acme.desk","status":"completed","error":""}': 1 },
    })
    const commits = metrics.get('svc_commit')!
    expect([commits.kind, commits.unit]).toEqual(['histogram', 's'])
    const saved = commits.points['{"outcome":"saved"}'] as { count: number; buckets: number[]; bounds: number[] }
    expect(saved.bounds).toEqual([0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300])
    expect(saved.buckets.reduce((sum, each) => sum + each, 0)).toBe(saved.count)
    expect(printMetrics(families)).toContain(`svc_commit_seconds_count{outcome="saved"} ${saved.count}\n`)
  })

  test('lines of a run are in its trace, and no secret is in any', async () => {
    const { telemetry, run } = await runToEnd()
    await telemetry.close()
    const told = receiver.logs.map(({ severity, body, traceId, spanId }) => ({ severity, body, traceId, spanId }))
    const inTrace = { traceId: traceOfRun(run).traceId, spanId: spanOfRun(run) }
    expect(told).toEqual([
      { severity: 'info', body: 'engine.run.started', ...inTrace },
      { severity: 'info', body: 'engine.run.completed', ...inTrace },
      { severity: 'warn', body: 'a token leaked', traceId: '', spanId: '' },
    ])
    expect(receiver.logs[2]!.attributes).toEqual({ where: '***', nested: '{"deep":"***"}' })
    expect(receiver.spans.find(({ name }) => name === 'invoke_agent acme.desk')).toMatchObject(inTrace)
  })

  test('headers, compression and the paths of signals are those that the variables say', async () => {
    const { telemetry } = await runToEnd({
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/elsewhere`,
    })
    await telemetry.close()
    const asked = receiver.requests.map(({ path, headers }) =>
      [path, headers.authorization, headers['content-encoding'], headers['content-type']].join(' '),
    )
    expect([...new Set(asked)].toSorted()).toEqual(
      ['/elsewhere', '/v1/logs', '/v1/metrics'].map((path) => `${path} Bearer abc gzip application/x-protobuf`),
    )
  })

  test.each<[string, NonNullable<Receiver['answer']>, string, number]>([
    ['500', (response) => response.writeHead(500).end('<b>secret</b>'), 'the receiver answered 500', 4],
    [
      '404',
      (response) => response.writeHead(404).end('not here'),
      'the receiver answered 404","fix":"Name the address that takes ',
      4,
    ],
    ['401', (response) => response.writeHead(401).end(), 'the receiver answered 401","fix":"Give it a key: OTEL_', 4],
    ['415', (response) => response.writeHead(415).end(), '_COMPRESSION=none, or another OTEL_EXPORTER_OTLP_', 4],
    ['302', (response) => response.writeHead(302, { location: '/' }).end(), 'the receiver answered 302","fix":', 4],
    ['400', (response) => response.writeHead(400).end('{"no":1}'), 'the receiver answered 400', 4],
    ['503', (response) => response.writeHead(503, { 'retry-after': '60' }).end(), 'the receiver asks for patience', 0],
  ])('a receiver that answers %s holds nothing up, and is told once', async (_, answer, why, dropped) => {
    receiver.answer = answer
    const { telemetry, said, registry } = await runToEnd({ OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
    await telemetry.close()
    for (const signal of ['traces', 'metrics', 'logs'])
      expect(said.filter((line) => line.includes(`"${signal}"`))).toEqual([expect.stringContaining(why)])
    const drops = registry.collect().find(({ name }) => name === 'svc_telemetry_dropped_total')?.samples ?? []
    expect(drops.find(({ labels }) => labels['signal'] === 'traces')?.value ?? 0).toBe(dropped)
    expect(said.join('\n')).not.toContain('secret')
  })

  test.each(['http/protobuf', 'http/json'])(
    'what a receiver took in part is counted and told once, over %s',
    async (protocol) => {
      const partial = { partialSuccess: { rejectedSpans: '2', errorMessage: 'secret' } }
      receiver.answer = (response) =>
        response.end(
          protocol === 'http/json'
            ? JSON.stringify(partial)
            : Buffer.concat([Buffer.of(0x0a, 0x0a, 0x08, 0x02, 0x12, 0x06), Buffer.from('secret')]),
        )
      const { telemetry, said, registry } = await runToEnd({
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_METRICS_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      })
      await telemetry.close()
      expect(said).toEqual([
        `warn telemetry is taken in part by its receiver; runs go on {"signal":"traces","to":"${url}/v1/traces","rejected":2}`,
      ])
      expect(printMetrics(registry.collect())).toContain('svc_telemetry_dropped_total{signal="traces"} 2\n')
    },
  )

  const dropsOf = ({ registry }: { readonly registry: MetricRegistry }) =>
    Object.fromEntries(
      (registry.collect().find(({ name }) => name === 'svc_telemetry_dropped_total')?.samples ?? []).map(
        ({ labels, value }) => [labels['signal'], value],
      ),
    )

  test('a span or a line that a receiver refuses takes no other one away', async () => {
    receiver.refuse = (items) =>
      items.some((each) => each === 'execute_tool acme.look' || each === 'bad') ? 400 : undefined
    const all = await runToEnd(HASTY)
    for (const line of [...Array.from({ length: 300 }, (_, at) => `line ${at}`), 'bad', 'last'])
      all.telemetry.log!.write('info', line)
    await waitUntil(() => receiver.logs.at(-1)?.body === 'last' && receiver.spans.length === 3)
    await all.telemetry.close()
    expect(receiver.spans.map(({ name }) => name)).toEqual([
      'chat desk-model',
      'chat desk-model',
      'invoke_agent acme.desk',
    ])
    expect([receiver.logs.length, receiver.logs.at(-1)!.body]).toEqual([304, 'last'])
    expect(dropsOf(all)).toEqual({ logs: 1, traces: 1 })
    expect(all.said).toHaveLength(2)
  })

  test('what is too much for one request is sent in parts', async () => {
    receiver.refuse = (items) => (items.length > 100 ? 413 : undefined)
    const all = await openAll({ ...HASTY, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' })
    for (let at = 0; at < 512; at++) all.telemetry.log!.write('info', `line ${at}`)
    await waitUntil(() => receiver.logs.length === 512)
    await all.telemetry.close()
    expect(receiver.logs.map(({ body }) => body)).toEqual(Array.from({ length: 512 }, (_, at) => `line ${at}`))
    expect(dropsOf(all)).toEqual({})
  })

  test('a receiver that refuses everything gets a bounded number of requests', async () => {
    receiver.refuse = () => 400
    const all = await openAll({ ...HASTY, OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' })
    for (let at = 0; at < 512; at++) all.telemetry.log!.write('info', `line ${at}`)
    await waitUntil(() => dropsOf(all)['logs'] === 512)
    await all.telemetry.close()
    expect([receiver.logs.length, receiver.requests.length, dropsOf(all)]).toEqual([0, 23, { logs: 512 }])
  })

  test('an answer that never ends counts as none, and one of any length as a refusal', async () => {
    receiver.answer = (response) => {
      const timer = setInterval(() => response.write('.'), 20)
      response.on('close', () => clearInterval(timer))
    }
    const late = await runToEnd({ OTEL_EXPORTER_OTLP_TIMEOUT: '100', ...HASTY })
    await waitUntil(() => late.said.some((line) => line.includes('"traces"')))
    expect(late.said.find((line) => line.includes('"traces"'))).toContain('the receiver did not take it in time')
    receiver.answer = (response) => response.end(Buffer.alloc(5 * 1024 * 1024, 0x20))
    const long = await runToEnd(HASTY)
    await waitUntil(() => long.said.some((line) => line.includes('"traces"')))
    expect(long.said.find((line) => line.includes('"traces"'))).toContain('the receiver answered without end')
    await Promise.all([late.telemetry.close(), long.telemetry.close()])
  })

  test('rubbish with status 200 counts as taken', async () => {
    receiver.answer = (response) => response.end(Buffer.alloc(100_000, 0xff))
    const { telemetry, said } = await runToEnd()
    await telemetry.close()
    expect(said).toEqual([])
  })

  test('what a receiver could not take while it was away comes when it is back', async () => {
    receiver.answer = (response) => response.writeHead(503).end()
    const { telemetry, bench, run } = await runToEnd({ OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
    await telemetry.close()
    receiver.answer = undefined
    expect(receiver.spans).toEqual([])
    // Another process may take the mark once the time of the first one is over.
    await bench.advance(60_000)
    const next = await openTelemetry({
      settings: readTelemetrySettings({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces` }, false)!,
      version: '1.2.3',
      workspace: { id: WORKSPACE, name: 'test' },
      redactor: createRedactor(),
      log: { write() {} },
      clock: bench.clock,
    })
    next.exportTraces(bench.store)
    await next.close()
    expect(receiver.spans.map(({ name }) => name)).toEqual([
      'chat desk-model',
      'execute_tool acme.look',
      'chat desk-model',
      'invoke_agent acme.desk',
    ])
    expect(receiver.spans.at(-1)!.spanId).toBe(spanOfRun(run))
  })

  test('a line is either taken or counted as dropped, also where many come during an export', async () => {
    const all = await openAll({
      ...HASTY,
      OTEL_TRACES_EXPORTER: 'none',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_BLRP_MAX_QUEUE_SIZE: '10',
    })
    const write = (lines: number, name: string): void => {
      for (let at = 0; at < lines; at++) all.telemetry.log!.write('info', `${name} ${at}`)
    }
    write(5, 'early')
    let isAsked = false
    receiver.refuse = () => {
      // While the first export is under way.
      if (!isAsked) write(20, 'late')
      isAsked = true
      return undefined
    }
    await waitUntil(() => receiver.logs.some(({ body }) => body === 'late 19'))
    await all.telemetry.close()
    expect(receiver.logs.map(({ body }) => body)).toEqual([
      ...Array.from({ length: 5 }, (_, at) => `early ${at}`),
      ...Array.from({ length: 5 }, (_, at) => `late ${at + 15}`),
    ])
    expect(dropsOf(all)).toEqual({ logs: 15 })
  })

  test('lines that wait are bounded, and those that are dropped counted', async () => {
    receiver.answer = (response) => response.writeHead(503).end()
    const { telemetry, registry } = await openAll({ OTEL_BLRP_MAX_QUEUE_SIZE: '10', OTEL_EXPORTER_OTLP_TIMEOUT: '200' })
    for (let n = 0; n < 1000; n++) telemetry.log!.write('info', `line ${n}`)
    expect(printMetrics(registry.collect())).toContain('svc_telemetry_dropped_total{signal="logs"} 990\n')
    await telemetry.close()
  })
})

test('a receiver that accepts and never answers does not keep a server from ending', async () => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  closing(() => void silent.close())
  url = `http://127.0.0.1:${(silent.address() as { port: number }).port}`
  const { telemetry } = await runToEnd()
  const begun = performance.now()
  await telemetry.close()
  expect(performance.now() - begun).toBeLessThan(4000)
})
