/** What the option and the standard variables of OpenTelemetry ask for. */
import { expect, test } from 'vitest'
import { isSampled } from '../../../src/server/telemetry/sampler.ts'
import { readTelemetrySettings } from '../../../src/server/telemetry/settings.ts'

const otlp = (signal: string, more: object = {}) => ({
  to: 'otlp',
  protocol: 'http/protobuf',
  url: `http://localhost:4318/v1/${signal}`,
  headers: {},
  timeoutMs: 10_000,
  compression: 'none',
  ...more,
})
const USUAL = { traces: otlp('traces'), metrics: otlp('metrics'), logs: otlp('logs') }

test('without the option and a variable nothing is exported', () => {
  expect(readTelemetrySettings({}, false)).toBeUndefined()
  expect(readTelemetrySettings({ OTEL_SERVICE_NAME: 'x', OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, false)).toBeUndefined()
})

test('the option alone exports everything to the usual address', () => {
  expect(readTelemetrySettings({}, true)).toEqual({
    targets: USUAL,
    sampler: { ratio: 1, isParentBased: true },
    withContent: false,
    traceDelayMs: 5000,
    metricIntervalMs: 60_000,
    logDelayMs: 1000,
    logQueue: 2048,
  })
})

test.each<[string, Record<string, string>, boolean, object]>([
  ['OTEL_SDK_DISABLED wins over the option', { OTEL_SDK_DISABLED: 'true' }, true, {}],
  [
    'a common endpoint is for all, with its path',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com/base/' },
    false,
    {
      traces: otlp('traces', { url: 'https://otel.example.com/base/v1/traces' }),
      metrics: otlp('metrics', { url: 'https://otel.example.com/base/v1/metrics' }),
      logs: otlp('logs', { url: 'https://otel.example.com/base/v1/logs' }),
    },
  ],
  [
    'a common endpoint keeps its parameters',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://otel.example.com?key=abc', OTEL_TRACES_EXPORTER: 'none' },
    false,
    {
      metrics: otlp('metrics', { url: 'https://otel.example.com/v1/metrics?key=abc' }),
      logs: otlp('logs', { url: 'https://otel.example.com/v1/logs?key=abc' }),
    },
  ],
  [
    'an endpoint of one signal is taken as it is, and asks for that signal alone',
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://tempo:4318/in' },
    false,
    { traces: otlp('traces', { url: 'http://tempo:4318/in' }) },
  ],
  ['an exporter of one signal asks for it', { OTEL_METRICS_EXPORTER: 'otlp' }, false, { metrics: USUAL.metrics }],
  [
    'none and console are exporters',
    { OTEL_TRACES_EXPORTER: 'console', OTEL_LOGS_EXPORTER: 'none' },
    true,
    { traces: { to: 'console' }, metrics: USUAL.metrics },
  ],
  [
    'what is said of a signal wins',
    {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2000',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '500',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc%3D, x-all=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-all=2',
      OTEL_LOGS_EXPORTER: 'none',
    },
    true,
    {
      traces: otlp('traces', {
        timeoutMs: 500,
        compression: 'gzip',
        headers: { authorization: 'Basic abc=', 'x-all': '2' },
      }),
      metrics: otlp('metrics', {
        protocol: 'http/json',
        timeoutMs: 2000,
        compression: 'gzip',
        headers: { authorization: 'Basic abc=', 'x-all': '1' },
      }),
    },
  ],
])('%s', (_, env, isAsked, targets) => {
  expect(readTelemetrySettings(env, isAsked)?.targets ?? {}).toEqual(targets)
})

test.each([
  ['true', true],
  ['SPAN_ONLY', true],
  ['span_and_event', true],
  ['event_only', false],
  ['false', false],
  ['', false],
])('content with %o: %o', (text, withContent) => {
  const env = { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: text }
  expect(readTelemetrySettings(env, true)?.withContent).toBe(withContent)
})

test.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is grpc.'],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:secret@4318' }, 'the endpoint for OTLP is no http address.'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'Authorization: secret' }, 'OTEL_EXPORTER_OTLP_HEADERS cannot be read.'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=%E0%A4%A' }, 'OTEL_EXPORTER_OTLP_HEADERS cannot be read.'],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=x%0d%0ab: y' }, 'OTEL_EXPORTER_OTLP_HEADERS cannot be read.'],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, 'OTEL_EXPORTER_OTLP_TIMEOUT is 10s.'],
  [{ OTEL_EXPORTER_OTLP_COMPRESSION: 'zstd' }, 'OTEL_EXPORTER_OTLP_COMPRESSION is zstd.'],
  [
    { OTEL_EXPORTER_OTLP_CERTIFICATE: '/nowhere/ca.pem' },
    'the file of OTEL_EXPORTER_OTLP_CERTIFICATE cannot be read (ENOENT).',
  ],
  [
    { OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY: '/nowhere/key.pem' },
    'the file of OTEL_EXPORTER_OTLP_CLIENT_KEY cannot be read (ENOENT).',
  ],
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is zipkin.'],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER is jaeger_remote.'],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG is 2.'],
  [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'OTEL_METRIC_EXPORT_INTERVAL is 0.'],
])('%o is refused', (env, message) => {
  expect(() => readTelemetrySettings(env, true)).toThrow(`Telemetry cannot be exported: ${message}`)
})

test('a ratio samples so many traces, and more with a larger one', () => {
  const traces = Array.from({ length: 4000 }, (_, n) => ({
    // Spread over all values, as random ids are.
    traceId: `${'a'.repeat(18)}${((n * 2654435761) % 2 ** 32).toString(16).padStart(8, '0')}000000`,
    flags: 1,
  }))
  const sampled = (ratio: number): readonly boolean[] =>
    traces.map((trace) => isSampled({ ratio, isParentBased: true }, trace, true))
  const count = (ratio: number): number => sampled(ratio).filter(Boolean).length
  expect([count(0), count(1)]).toEqual([0, 4000])
  expect(Math.abs(count(0.25) - 1000)).toBeLessThan(100)
  const [few, many] = [sampled(0.25), sampled(0.5)]
  expect(few.every((is, n) => !is || many[n])).toBe(true)
})
