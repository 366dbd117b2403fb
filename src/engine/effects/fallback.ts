/** The models that `svc/model-fallback` names, asked when the agent's model fails. Source: docs/design/models-and-tools.md#attempts */
import { isHeldBack } from '../../base/net/transport.ts'
import { ProviderError, type ModelCompletion } from '../../providers/provider.ts'
import type { AgentSnapshot, SnapshotModel } from '../../spec/snapshot.ts'
import type { FallbackAnswer } from '../session/event.ts'
import type { CompletionMeter } from './meter.ts'

/**
 * Asks the agent's model, and after a failure before the first token the models of `svc/model-fallback`, one after the other.
 * @throws ProviderError with the failures of all, to be retried where one of them may pass
 */
export async function askWithFallback(
  { model, fallback = [] }: AgentSnapshot,
  ask: (model: SnapshotModel) => Promise<ModelCompletion>,
  signal: AbortSignal,
  meter: CompletionMeter,
): Promise<{ readonly completion: ModelCompletion; readonly fallback?: FallbackAnswer }> {
  const failed: ProviderError[] = []
  const models = [model, ...fallback]
  for (const each of models) {
    try {
      const completion = await ask(each)
      if (failed.length === 0) return { completion }
      const after = failed.map(({ message }, at) => ({ model: models[at]!.name, error: message }))
      return { completion, fallback: { model: each, after } }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ProviderError) || isHeldBack(error) || fallback.length === 0) throw error
      failed.push(error)
      if (meter.hasText()) break
    }
  }
  const outage = failed.find((each) => each.outage)?.outage
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  throw new ProviderError(failed.map(({ message }, at) => `${models[at]!.name}: ${message}`).join(' '), {
    retryable: failed.some(({ retryable }) => retryable),
    ...(waits.length > 0 && { retryAfterMs: Math.min(...waits) }),
    ...(outage && { outage }),
    cause: failed[0],
  })
}
