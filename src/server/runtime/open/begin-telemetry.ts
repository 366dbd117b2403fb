/** Begins to export telemetry, where an option or a variable of OpenTelemetry asks for it. */
import { isFailure } from '../../../base/failure.ts'
import { workspaceIdOf } from '../../../base/ids.ts'
import type { Log } from '../../../base/log.ts'
import type { Redactor } from '../../../base/secret.ts'
import type { Store } from '../../../store/store.ts'
import type { OpenTelemetry } from '../../telemetry/open-telemetry.ts'
import { readTelemetrySettings, type TelemetrySettings } from '../../telemetry/settings.ts'
import type { RuntimeOptions } from '../options.ts'

/**
 * Undefined where nothing is exported. Variables are often set for all programs of a machine, so what is wrong with them is no reason not
 * to serve, unless the option asks for telemetry.
 * @throws Failure `telemetry_invalid`, `telemetry_packages_missing`
 */
export async function beginTelemetry(
  { env, otel = false, version, workspace: name, metrics }: RuntimeOptions,
  { log, redactor, store }: { readonly log: Log; readonly redactor: Redactor; readonly store: Store },
): Promise<OpenTelemetry | undefined> {
  try {
    const settings = readTelemetrySettings(env, otel)
    if (!settings) return undefined
    for (const secret of secretsOf(settings)) redactor.add(secret)
    const { openTelemetry } = await import('../../telemetry/open-telemetry.ts')
    const workspace = { id: workspaceIdOf(name), name }
    const { clock } = store
    const telemetry = await openTelemetry({
      settings,
      version,
      workspace,
      redactor,
      log,
      clock,
      ...(metrics && { metrics }),
    })
    telemetry.exportTraces(store)
    return telemetry
  } catch (error) {
    if (otel || !isFailure(error)) throw error
    log.write('warn', 'telemetry is not exported, although variables of OpenTelemetry ask for it', {
      why: error.message,
      fix: error.fix,
    })
    return undefined
  }
}

/**
 * Headers in which receivers take the name of a tenant, a data set or a stream: a word such as `production`, which would be masked in
 * whatever runs and people write.
 */
const NAMES: ReadonlySet<string> = new Set([
  'content-type',
  'organization',
  'stream-name',
  'user-agent',
  'x-honeycomb-dataset',
  'x-p-log-source',
  'x-p-stream',
  'x-project-id',
  'x-project-name',
  'x-scope-orgid',
  'x-tenant',
  'x-tenant-id',
])

/** Keys of receivers stand in headers, often behind the name of a scheme, and rarely in addresses. */
const secretsOf = ({ targets }: TelemetrySettings): readonly string[] =>
  Object.values(targets).flatMap((target) => {
    if (target.to !== 'otlp') return []
    const { password, searchParams } = new URL(target.url)
    const keys = Object.entries(target.headers).filter(([name]) => !NAMES.has(name))
    const headers = keys.flatMap(([, value]) => [value, value.replace(/^\S+ +/, '')])
    return [...headers, password, ...searchParams.values()]
  })
