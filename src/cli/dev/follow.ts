/** What `svc dev` does while its server runs. */
import { handleHotkeys, type HotkeyContext } from './hotkeys.ts'
import { logRuns } from './live-log.ts'
import { throwWhyEnded, untilStopped } from '../project/open-server.ts'

/** Prints run events and handles keys, until Ctrl-C, SIGTERM or `q`, or until `ended` fires. */
export async function followServer(context: HotkeyContext, ended?: AbortSignal): Promise<void> {
  const { call, operator, area } = context
  const stop = new AbortController()
  const signal = AbortSignal.any([call.signal, stop.signal, ...(ended ? [ended] : [])])
  const logging = call.mode.json ? undefined : logRuns(call, operator, signal, area)
  try {
    const obeys = call.mode.interactive && !call.mode.json
    await Promise.race([obeys ? handleHotkeys(context, signal) : untilStopped(signal), ...(logging ? [logging] : [])])
  } finally {
    stop.abort()
    await logging
  }
  if (ended) throwWhyEnded(ended)
}
