/**
 * A receiver of OTLP on loopback: both encodings, read by the published protocol as protobufjs knows it.
 * `node scripts/tools.js test/server/telemetry/otlp` installs that.
 */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { gunzipSync } from 'node:zlib'

const ROOT = resolve(
  import.meta.dirname,
  'otlp/node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js',
)
export const hasOtlpTools = existsSync(ROOT)

export type Attributes = Readonly<Record<string, unknown>>

export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  /** Empty without one. */
  readonly parentSpanId: string
  /** As the protocol numbers them: 1 internal, 3 client. */
  readonly kind: number
  readonly ms: number
  readonly isFailed: boolean
  readonly attributes: Attributes
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly schemaUrl: string
  readonly scope: string
  readonly resource: Attributes
}

export interface ReceivedLog {
  readonly body: unknown
  readonly severity: string
  readonly attributes: Attributes
  readonly traceId: string
  readonly spanId: string
}

export interface ReceivedMetric {
  readonly name: string
  readonly unit: string
  readonly description: string
  readonly kind: 'sum' | 'gauge' | 'histogram'
  readonly isMonotonic: boolean
  /** By their attributes, as JSON. */
  readonly points: Readonly<Record<string, unknown>>
}

export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingMessage['headers']
}

export interface Receiver {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  readonly spans: readonly ReceivedSpan[]
  readonly logs: readonly ReceivedLog[]
  /** Of the newest export. */
  readonly metrics: ReadonlyMap<string, ReceivedMetric>
  /** How it answers from now on; undefined as the protocol says. */
  answer: ((response: ServerResponse) => void) | undefined
  /** The status with which it refuses an export of spans with these names, or of lines with these texts. */
  refuse: ((items: readonly unknown[]) => number | undefined) | undefined
  close(): Promise<void>
}

interface Decoder {
  decode(bytes: Uint8Array): unknown
  fromObject(value: object): unknown
  toObject(message: unknown, options: object): Json
}
// Messages of a protocol, whose members the readers below name.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any

export async function startReceiver(port = 0): Promise<Receiver> {
  const spans: ReceivedSpan[] = []
  const logs: ReceivedLog[] = []
  const requests: ReceivedRequest[] = []
  const metrics = new Map<string, ReceivedMetric>()
  const receiver = {
    spans,
    logs,
    requests,
    metrics,
    answer: undefined as Receiver['answer'],
    refuse: undefined as Receiver['refuse'],
  }
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      requests.push({ path: request.url ?? '', headers: request.headers })
      if (receiver.answer) return receiver.answer(response)
      const bytes = Buffer.concat(chunks)
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
      const isJson = request.headers['content-type'] === 'application/json'
      const signal = /^\/v1\/(trace|metric|log)s$/.exec(request.url ?? '')?.[1]
      const message = decode(signal ?? '', body, isJson)
      const newSpans = signal === 'trace' ? readSpans(message) : []
      const newLogs = signal === 'log' ? readLogs(message) : []
      const refusal = receiver.refuse?.([...newSpans.map(({ name }) => name), ...newLogs.map(({ body }) => body)])
      if (refusal !== undefined) return void response.writeHead(refusal).end()
      spans.push(...newSpans)
      logs.push(...newLogs)
      if (signal === 'metric') for (const each of readMetrics(message)) metrics.set(each.name, each)
      response.writeHead(200, { 'content-type': request.headers['content-type'] }).end(isJson ? '{}' : '')
    })().catch((error: unknown) => response.writeHead(400).end(String(error)))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: bound } = server.address() as AddressInfo
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${bound}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  })
}

const SERVICES: Readonly<Record<string, readonly [string, string]>> = {
  trace: ['trace', 'ExportTraceServiceRequest'],
  metric: ['metrics', 'ExportMetricsServiceRequest'],
  log: ['logs', 'ExportLogsServiceRequest'],
}

/** Ids are hexadecimal in the JSON of OTLP, where protobuf's own JSON has base64. */
function decode(signal: string, body: Uint8Array, isJson: boolean): Json {
  const [room, name] = SERVICES[signal]!
  const root = createRequire(import.meta.url)(ROOT) as { opentelemetry: Json }
  const decoder = root.opentelemetry.proto.collector[room].v1[name] as Decoder
  const given = isJson
    ? decoder.fromObject(
        JSON.parse(Buffer.from(body).toString(), (key, value: unknown) =>
          /^(?:traceId|spanId|parentSpanId)$/.test(key)
            ? Buffer.from(value as string, 'hex').toString('base64')
            : value,
        ) as object,
      )
    : decoder.decode(body)
  return decoder.toObject(given, {
    longs: Number,
    enums: Number,
    arrays: true,
    defaults: true,
    bytes: Buffer,
    oneofs: true,
  })
}

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('hex')

/** Which member of the choice is set, protobufjs says. */
function valueOf(value: Json): unknown {
  const set = value?.value as string | undefined
  if (set === 'arrayValue') return value.arrayValue.values.map(valueOf)
  if (set === 'kvlistValue') return attributesOf(value.kvlistValue.values)
  return set === undefined ? undefined : value[set]
}

const attributesOf = (pairs: readonly Json[]): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, valueOf(value)]))

const readSpans = ({ resourceSpans }: Json): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ scope, schemaUrl, spans }: Json) =>
      spans.map((span: Json): ReceivedSpan => ({
        name: span.name,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        kind: span.kind,
        ms: Math.round((span.endTimeUnixNano - span.startTimeUnixNano) / 1e6),
        isFailed: span.status?.code === 2,
        attributes: attributesOf(span.attributes),
        links: span.links.map((link: Json) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        schemaUrl,
        scope: `${scope.name}@${scope.version}`,
        resource: attributesOf(resource.attributes),
      })),
    ),
  )

const readLogs = ({ resourceLogs }: Json): ReceivedLog[] =>
  resourceLogs.flatMap(({ scopeLogs }: Json) =>
    scopeLogs.flatMap(({ logRecords }: Json) =>
      logRecords.map((record: Json): ReceivedLog => ({
        body: valueOf(record.body),
        severity: record.severityText,
        attributes: attributesOf(record.attributes),
        traceId: hex(record.traceId),
        spanId: hex(record.spanId),
      })),
    ),
  )

function readMetrics({ resourceMetrics }: Json): ReceivedMetric[] {
  const found = resourceMetrics.flatMap(({ scopeMetrics }: Json) => scopeMetrics.flatMap((each: Json) => each.metrics))
  return found.map((metric: Json): ReceivedMetric => {
    const kind = (['sum', 'gauge', 'histogram'] as const).find((each) => metric[each])!
    const points = metric[kind].dataPoints.map((point: Json) => [
      JSON.stringify(attributesOf(point.attributes)),
      kind === 'histogram'
        ? { count: point.count, sum: point.sum, buckets: point.bucketCounts, bounds: point.explicitBounds }
        : (point.asDouble ?? point.asInt),
    ])
    const { name, unit, description } = metric
    const isMonotonic = metric.sum?.isMonotonic === true
    return { name, unit, description, kind, isMonotonic, points: Object.fromEntries(points) }
  })
}
