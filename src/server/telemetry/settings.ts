/**
 * What is exported, and to where: `--otel` and the standard variables of OpenTelemetry, read once at the start. What the files
 * of certificates hold is left to the exporters. Source: docs/design/telemetry.md#settings
 */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { parseUrl } from '../../base/net/parse-url.ts'

export const SIGNALS = ['traces', 'metrics', 'logs'] as const
export type TelemetrySignal = (typeof SIGNALS)[number]

export interface OtlpTarget {
  readonly to: 'otlp'
  readonly protocol: 'http/protobuf' | 'http/json'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly compression: 'none' | 'gzip'
}

/** Where one signal goes. `console` is the log of the server. */
export type SignalTarget = OtlpTarget | { readonly to: 'console' }

export interface TelemetrySettings {
  /** A signal that is not exported is absent. */
  readonly targets: Readonly<Partial<Record<TelemetrySignal, SignalTarget>>>
  readonly sampler: SamplerSettings
  /** Prompts, arguments and answers are told, too. */
  readonly withContent: boolean
  readonly traceDelayMs: number
  readonly metricIntervalMs: number
  readonly logDelayMs: number
  /** Log records that wait at most. */
  readonly logQueue: number
}

export interface SamplerSettings {
  /** Part of the traces that begin here, from 0 to 1. */
  readonly ratio: number
  /** The decision of who started the run counts where there is one. */
  readonly isParentBased: boolean
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Undefined where nothing is to be exported.
 * @param isAsked `--otel` was given; otherwise only signals for which a variable names an exporter or an endpoint are exported
 * @throws Failure `telemetry_invalid`
 */
export function readTelemetrySettings(env: Env, isAsked: boolean): TelemetrySettings | undefined {
  const given = variablesOf(env)
  if (readSwitch(given('OTEL_SDK_DISABLED'))) return undefined
  const targets = Object.fromEntries(
    SIGNALS.flatMap((signal) => {
      const target = readTarget(given, signal, isAsked)
      return target ? [[signal, target]] : []
    }),
  ) as TelemetrySettings['targets']
  if (Object.keys(targets).length === 0) return undefined
  return {
    targets,
    sampler: readSampler(given),
    withContent: readContent(given('OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT')),
    traceDelayMs: readMilliseconds(given, 'OTEL_BSP_SCHEDULE_DELAY', 5000),
    metricIntervalMs: readMilliseconds(given, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    logDelayMs: readMilliseconds(given, 'OTEL_BLRP_SCHEDULE_DELAY', 1000),
    logQueue: readMilliseconds(given, 'OTEL_BLRP_MAX_QUEUE_SIZE', 2048),
  }
}

type GivenVariables = (name: string) => string | undefined

/** An empty variable counts as none, as the specification says. */
const variablesOf =
  (env: Env): GivenVariables =>
  (name) => {
    const text = env[name]?.trim()
    return text === '' ? undefined : text
  }

const readSwitch = (text: string | undefined): boolean => text?.toLowerCase() === 'true'

/** Of the later values, those that ask for content in spans. */
const readContent = (text: string | undefined): boolean =>
  ['true', 'span_only', 'span_and_event'].includes(text?.toLowerCase() ?? '')

function readTarget(given: GivenVariables, signal: TelemetrySignal, isAsked: boolean): SignalTarget | undefined {
  const name = signal.toUpperCase()
  const exporter = given(`OTEL_${name}_EXPORTER`)
  const own = given(`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`)
  const common = given('OTEL_EXPORTER_OTLP_ENDPOINT')
  if (!isAsked && exporter === undefined && own === undefined && common === undefined) return undefined
  // A list names several; one of them is enough.
  const names = (exporter ?? 'otlp').split(',').map((each) => each.trim().toLowerCase())
  if (names.includes('none')) return undefined
  if (names.includes('console')) return { to: 'console' }
  if (!names.includes('otlp')) throw invalid(`OTEL_${name}_EXPORTER is ${exporter}`, 'It takes otlp, console or none.')
  const setting = (what: string): string | undefined =>
    given(`OTEL_EXPORTER_OTLP_${name}_${what}`) ?? given(`OTEL_EXPORTER_OTLP_${what}`)
  for (const what of FILES) checkFile(setting(what), what)
  return {
    to: 'otlp',
    protocol: readProtocol(setting('PROTOCOL') ?? 'http/protobuf'),
    url: own === undefined ? commonUrl(common ?? 'http://localhost:4318', signal) : readUrl(own),
    headers: {
      ...readHeaders(given('OTEL_EXPORTER_OTLP_HEADERS')),
      ...readHeaders(given(`OTEL_EXPORTER_OTLP_${name}_HEADERS`)),
    },
    timeoutMs: readMilliseconds(setting, 'TIMEOUT', 10_000, `OTEL_EXPORTER_OTLP_TIMEOUT`),
    compression: readCompression(setting('COMPRESSION') ?? 'none'),
  }
}

/** Read by the exporters, which say nothing of one that is not there. */
const FILES = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY']

function checkFile(path: string | undefined, what: string): void {
  try {
    if (path !== undefined) accessSync(resolve(path), constants.R_OK)
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException
    throw invalid(
      `the file of OTEL_EXPORTER_OTLP_${what} cannot be read (${code})`,
      'It takes the path of a PEM file, from the directory in which svc is started.',
    )
  }
}

function readProtocol(text: string): OtlpTarget['protocol'] {
  if (text === 'http/protobuf' || text === 'http/json') return text
  throw invalid(
    `OTEL_EXPORTER_OTLP_PROTOCOL is ${text}`,
    'svc speaks http/protobuf and http/json, usually at port 4318.',
  )
}

function readCompression(text: string): OtlpTarget['compression'] {
  if (text === 'none' || text === 'gzip') return text
  throw invalid(`OTEL_EXPORTER_OTLP_COMPRESSION is ${text}`, 'It takes gzip or none.')
}

/** A key of a receiver may be a parameter of its address. */
function commonUrl(base: string, signal: TelemetrySignal): string {
  const url = new URL(readUrl(base))
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/${signal}`
  return url.href
}

function readUrl(text: string): string {
  const url = parseUrl(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url.href
  // An address may hold a password, so it is not repeated.
  throw invalid('the endpoint for OTLP is no http address', 'OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318')
}

/** `name=value,name=value`, percent-encoded. */
function readHeaders(text: string | undefined): Record<string, string> {
  const pairs = (text ?? '').split(',').flatMap((pair): (readonly [string, string])[] => {
    const at = pair.indexOf('=')
    const name = pair.slice(0, Math.max(0, at)).trim()
    if (pair.trim() === '') return []
    const value = decode(pair.slice(at + 1).trim())
    if (!HEADER_NAME.test(name) || value === undefined || /[^\t\x20-\x7e]/.test(value))
      throw invalid(
        'OTEL_EXPORTER_OTLP_HEADERS cannot be read',
        'It takes name=value pairs with commas between them; write %2C for a comma in a value.',
      )
    return [[name.toLowerCase(), value]]
  })
  return Object.fromEntries(pairs)
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readMilliseconds(given: GivenVariables, name: string, usual: number, shown = name): number {
  const text = given(name)
  if (text === undefined) return usual
  if (!/^\d{1,9}$/.test(text) || Number(text) === 0) throw invalid(`${shown} is ${text}`, 'It takes a number above 0.')
  return Number(text)
}

function readSampler(given: GivenVariables): SamplerSettings {
  const name = given('OTEL_TRACES_SAMPLER')?.toLowerCase() ?? 'parentbased_always_on'
  const isParentBased = name.startsWith('parentbased_')
  switch (name.replace(/^parentbased_/, '')) {
    case 'always_on':
      return { ratio: 1, isParentBased }
    case 'always_off':
      return { ratio: 0, isParentBased }
    case 'traceidratio':
      return { ratio: readRatio(given('OTEL_TRACES_SAMPLER_ARG')), isParentBased }
    default:
      throw invalid(
        `OTEL_TRACES_SAMPLER is ${name}`,
        'It takes always_on, always_off or traceidratio, each also with parentbased_ before it.',
      )
  }
}

function readRatio(text: string | undefined): number {
  const ratio = Number(text ?? 1)
  if (ratio >= 0 && ratio <= 1) return ratio
  throw invalid(`OTEL_TRACES_SAMPLER_ARG is ${text}`, 'It takes a number from 0 to 1.')
}

const invalid = (what: string, fix: string) => fail('telemetry_invalid', { what }, { fix })
