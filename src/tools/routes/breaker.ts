/** Circuit breaker for tools. Source: docs/design/security.md#runaway-runs */
import { createBreaker, describePause, type BreakerLimits } from '../../base/breaker.ts'
import type { Clock } from '../../base/clock.ts'
import type { ToolOutcome, Toolbox } from '../tool.ts'

/**
 * Sends no calls to a tool after consecutive failures. Only calls that could not be sent or got no answer count: an error that
 * the tool returns is an answer.
 */
export function withToolBreaker(tools: Toolbox, limits: BreakerLimits, clock: Clock): Toolbox {
  const breaker = createBreaker(limits, clock)
  return {
    ...tools,
    route(agent, tool) {
      const route = tools.route(agent, tool)
      return (
        route && {
          ...route,
          async invoke(invocation, signal) {
            const ms = breaker.pausedMs(tool.id)
            if (ms !== undefined)
              return { at: 'not_sent', code: 'unreachable', error: describePause(tool.id, limits, ms) }
            const outcome = await route.invoke(invocation, signal)
            if (outcome.at === 'returned' || outcome.at === 'asked') breaker.tell(tool.id, true)
            else if (isFailure(outcome) && !signal.aborted) breaker.tell(tool.id, false)
            return outcome
          },
        }
      )
    },
  }
}

const isFailure = (outcome: ToolOutcome): boolean =>
  outcome.at === 'unknown' || (outcome.at === 'not_sent' && outcome.code === 'unreachable')
