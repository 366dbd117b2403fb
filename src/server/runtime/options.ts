/** Options of `openServer`. */
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ProviderParts } from '../../providers/registry/choose.ts'
import type { QueueTimers } from '../../queue/timers.ts'
import type { Cassette } from '../../spec/project/cassette.ts'
import type { ProjectConfig } from '../../spec/project/config.ts'
import type { Toolbox } from '../../tools/tool.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import type { DocumentCompiler } from './document-compiler.ts'

export interface RuntimeOptions {
  /** Created when absent on disk, 0700. Undefined = everything in memory, files in a temporary directory. */
  readonly dataDirectory?: string
  /** Address of a PostgreSQL database that several servers share, instead of the database of the data directory. */
  readonly store?: string
  /** Workspace name; ids of agents and versions are derived from it. */
  readonly workspace: string
  readonly config: ProjectConfig
  /** Directory of the config file: tool commands run in it. */
  readonly configDirectory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Version of svc, shown by `GET /status`. */
  readonly version: string
  /** Reads without the lock, beside the process that holds it, and changes nothing. */
  readonly readOnly?: boolean
  /** Replaces every model provider by `auto`, except scripted ones. */
  readonly offline?: boolean
  readonly clock?: Clock
  /** Gets values without secrets. JSON lines on standard error when absent. */
  readonly log?: Log
  /** Exports telemetry, whether or not a variable of OpenTelemetry asks for it; it is an error if that is impossible. */
  readonly otel?: boolean
  /** Where what happens to runs is counted. */
  readonly metrics?: MetricRegistry
  /** A listener offers them; otherwise they are counted only where they are exported. */
  readonly isScraped?: boolean
  /** Receives the JSON lines, already redacted, instead of standard error. */
  readonly logTo?: { write(line: string): void }
  /** For `svc dev`: allows decisions in anybody's name and rehearsed runs. */
  readonly development?: boolean
  /** For tests of agents, which move the clock by hand: timers, waiting, and replacements for tools. */
  readonly timers?: QueueTimers
  readonly wait?: NonNullable<ProviderParts['wait']>
  readonly standIn?: (tools: Toolbox) => Toolbox
  /** Reads, lints and compiles documents for operators. */
  readonly documents?: DocumentCompiler
  /** Records the answers of models and tools, or replays them. */
  readonly cassette?: Cassette
}
