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
  const failures: { readonly model: string; readonly error: ProviderError }[] = []
  for (const each of [model, ...fallback]) {
    try {
      const completion = await ask(each)
      if (failures.length === 0) return { completion }
      const after = failures.map(({ model: name, error }) => ({ model: name, error: error.message }))
      return { completion, fallback: { model: each, after } }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ProviderError) || isHeldBack(error) || fallback.length === 0) throw error
      failures.push({ model: each.name, error })
      if (meter.hasText()) break
    }
  }
  const failed = failures.map(({ error }) => error)
  const outage = failed.find((each) => each.outage)?.outage
  const waits = failed.flatMap(({ retryAfterMs }) => retryAfterMs ?? [])
  throw new ProviderError(failures.map(({ model: name, error }) => `${name}: ${error.message}`).join(' '), {
    retryable: failed.some(({ retryable }) => retryable),
    ...(waits.length > 0 && { retryAfterMs: Math.min(...waits) }),
    ...(outage && { outage }),
    cause: failed[0],
  })
}
