/** Says once that a receiver does not take what is exported, and once that it does again. */
import type { Log } from '../../base/log.ts'
import type { TelemetrySignal } from './settings.ts'

export interface ReceiverReport {
  failed(why: string): void
  recovered(): void
}

/** @param to its address, fit to be shown; undefined for the log of the server */
export function createReceiverReport(signal: TelemetrySignal, log: Log, to: string | undefined): ReceiverReport {
  let isDown = false
  return {
    failed(why) {
      if (!isDown)
        log.write('warn', 'telemetry is not taken by its receiver; runs go on', {
          signal,
          ...(to !== undefined && { to }),
          why,
        })
      isDown = true
    },
    recovered() {
      if (isDown) log.write('info', 'telemetry is taken again', { signal })
      isDown = false
    },
  }
}
