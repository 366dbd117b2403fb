/** Says once that a receiver does not take what is exported, and once that it does again. */
import type { Log } from '../../base/log.ts'
import type { TelemetrySignal } from './settings.ts'

export interface ReceiverReport {
  failed(why: string): void
  recovered(): void
}

export function createReceiverReport(signal: TelemetrySignal, log: Log): ReceiverReport {
  let isDown = false
  return {
    failed(why) {
      if (!isDown) log.write('warn', 'telemetry is not taken by its receiver; runs go on', { signal, why })
      isDown = true
    },
    recovered() {
      if (isDown) log.write('info', 'telemetry is taken again', { signal })
      isDown = false
    },
  }
}
