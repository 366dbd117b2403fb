/** Checks that what the variables of OpenTelemetry ask for can be exported. */
import { isFailure } from '../../base/failure.ts'
import { showAddress } from '../../base/net/show-address.ts'
import { signalWithin } from '../../base/signal-within.ts'
import { openExporters } from '../../server/telemetry/exporters.ts'
import { readTelemetrySettings } from '../../server/telemetry/settings.ts'
import { healthy, unhealthy, type DoctorChecks } from './finding.ts'

const TIMEOUT_MS = 5000

export const telemetryChecks: DoctorChecks = {
  async telemetry({ io, signal }) {
    try {
      const settings = readTelemetrySettings(io.env, false)
      if (!settings) return healthy('not exported')
      await openExporters(settings, {})
      const urls = Object.values(settings.targets).flatMap((target) => (target.to === 'otlp' ? [target.url] : []))
      const away: string[] = []
      for (const url of urls)
        // Any response shows that the receiver is there.
        await io
          .fetch(url, { method: 'HEAD', redirect: 'manual', signal: signalWithin(TIMEOUT_MS, signal) })
          .catch(() => away.push(showAddress(url)))
      return away.length === 0
        ? healthy(urls.length === 0 ? 'to the log' : urls.map(showAddress).join(', '))
        : unhealthy(`${away.join(', ')} cannot be reached`, 'Check OTEL_EXPORTER_OTLP_ENDPOINT and the network.')
    } catch (error) {
      if (!isFailure(error)) throw error
      return unhealthy(error.message, error.fix)
    }
  },
}
