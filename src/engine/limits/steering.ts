/** Messages to a run that works. Source: docs/design/steering.md#messages-to-working-runs */
import type { JsonObject } from '../../base/json/json.ts'
import type { RunHandle } from '../transaction/transaction.ts'

/** Adds the messages that came since the last completion, for this one to see. */
export function takeUpMessages(run: RunHandle): void {
  const { steering, ...usage } = run.usage
  if (!steering) return
  run.update({ usage })
  for (const { text, files } of steering) {
    const shown = files.map(({ filename, mediaType }): JsonObject => ({ filename, media_type: mediaType }))
    run.addStep('UserMessage', { text, ...(shown.length > 0 && { files: shown }), steer: true })
  }
}
