/** Circuit breaker for model providers. Source: docs/design/security.md#runaway-runs */
import { createBreaker, describePause, type BreakerLimits } from '../base/breaker.ts'
import type { Clock } from '../base/clock.ts'
import { isHeldBack } from '../base/net/transport.ts'
import { ProviderError, type ModelProviders } from './provider.ts'

/** Stops calling a provider after consecutive failures. Only retryable errors count; the error of a paused call tells when to retry. */
export function withModelBreaker(providers: ModelProviders, limits: BreakerLimits, clock: Clock): ModelProviders {
  const breaker = createBreaker(limits, clock)
  return {
    ...providers,
    choose(agent, model, sessionId) {
      const provider = providers.choose(agent, model, sessionId)
      const { provider: name, base_url: address = '' } = model
      // Per address, because servers that share a protocol fail independently.
      const key = `${name} ${address}`
      return {
        async *complete(request, signal) {
          const ms = breaker.pausedMs(key)
          if (ms !== undefined)
            throw new ProviderError(describePause(name, limits, ms), {
              retryable: true,
              retryAfterMs: ms,
              outage: 'provider_unreachable',
            })
          try {
            for await (const part of provider.complete(request, signal)) {
              if (part.type === 'end') breaker.tell(key, true)
              yield part
            }
          } catch (error) {
            const isFailure = error instanceof ProviderError && error.retryable && !isHeldBack(error)
            if (isFailure && !signal.aborted) breaker.tell(key, false)
            throw error
          }
        },
      }
    },
  }
}
