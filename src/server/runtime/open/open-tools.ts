/**
 * Opens the tools and models of a server, each wrapped in the same order: circuit breaker next to the network, then the
 * cassette, then rehearsals of single runs.
 */
import { join } from 'node:path'
import type { BreakerLimits } from '../../../base/breaker.ts'
import type { Clock } from '../../../base/clock.ts'
import { parseDuration } from '../../../base/duration.ts'
import type { OwnListeners } from '../../../base/net/own-listeners.ts'
import type { Log } from '../../../base/log.ts'
import type { Redactor } from '../../../base/secret.ts'
import { withModelBreaker } from '../../../providers/breaker.ts'
import { withModelCassette } from '../../../providers/cassette.ts'
import { createProviders } from '../../../providers/registry/choose.ts'
import type { ModelProviders } from '../../../providers/provider.ts'
import type { Cassette } from '../../../spec/project/cassette.ts'
import type { ProjectConfig } from '../../../spec/project/config.ts'
import { withToolBreaker } from '../../../tools/routes/breaker.ts'
import { withToolCassette } from '../../../tools/routes/cassette.ts'
import type { Toolbox } from '../../../tools/tool.ts'
import { createToolbox } from '../../../tools/routes/toolbox.ts'
import { createRehearsals, type RehearsalRegistry } from '../rehearsals.ts'
import type { RuntimeOptions } from '../options.ts'

type ReadFile = NonNullable<Parameters<typeof createToolbox>[0]['readFile']>

interface ToolParts {
  /** Rehearsals are kept in `rehearsals/` below it. */
  readonly directory: string
  readonly clock: Clock
  readonly redactor: Redactor
  readonly log: Log
  /** Tools and models must not reach them. Those added later count as well. */
  readonly ownListeners: OwnListeners
  /** Absent where no storage is open. */
  readonly readFile: ReadFile | undefined
}

export interface OpenTools {
  readonly tools: Toolbox
  readonly providers: ModelProviders
  readonly rehearsals: RehearsalRegistry
}

export function openTools(options: RuntimeOptions, parts: ToolParts): OpenTools {
  const { config } = options
  const { directory, clock, redactor } = parts
  const limits = breakerLimits(config)
  const cassette = redactedCassette(options.cassette, redactor)
  const rehearsals = createRehearsals(join(directory, 'rehearsals'), redactor)

  const toolbox = connectTools(options, parts)
  const guardedTools = limits ? withToolBreaker(toolbox, limits, clock) : toolbox
  const tools = rehearsals.tools(withToolCassette(options.standIn?.(guardedTools) ?? guardedTools, cassette))

  const models = connectModels(options, parts)
  const guardedModels = limits ? withModelBreaker(models, limits, clock) : models
  const providers = rehearsals.models(withModelCassette(guardedModels, cassette))

  return { tools, providers, rehearsals }
}

const connectTools = (
  { config, configDirectory, env, version, offline = false }: RuntimeOptions,
  { directory, clock, redactor, log, ownListeners, readFile }: ToolParts,
): Toolbox =>
  createToolbox({
    config,
    configDir: configDirectory,
    dataDirectory: directory,
    env,
    redactor,
    offline,
    clock,
    version,
    log,
    ownListeners,
    ...(readFile && { readFile }),
  })

const connectModels = (
  { config, env, offline = false, wait }: RuntimeOptions,
  { clock, redactor, ownListeners }: ToolParts,
): ModelProviders =>
  createProviders({
    env,
    redactor,
    offline,
    clock,
    allowedHosts: config.network?.allowed_hosts ?? [],
    ownListeners,
    ...(config.providers && { config: config.providers }),
    ...(config.prices && { prices: config.prices }),
    ...(wait && { wait }),
  })

/** Records to the cassette without secrets. */
function redactedCassette(cassette: Cassette = {}, redactor: Redactor): Cassette {
  const { record, ...played } = cassette
  return { ...played, ...(record && { record: (each) => record(redactor.json(each)) }) }
}

function breakerLimits({ circuit_breaker: breaker }: ProjectConfig): BreakerLimits | undefined {
  if (!breaker) return undefined
  const { failures, pause = '30s' } = breaker
  // The duration parses: the shape of the file was checked when it was read.
  return { failures, pauseMs: parseDuration(pause)! }
}
