import { isFailure } from '../../base/failure.ts'
import type { PlanRoom } from '../transaction/context.ts'

/** The room in the workspace's plan, as a refused save reports it; undefined if it was refused for another reason. */
export function planRoomOf(error: unknown): PlanRoom | undefined {
  if (isFailure(error, 'plan_reserved')) return 'taken'
  if (isFailure(error, 'plan_spent')) return { spentForMs: (error.extras.retryAfterSeconds ?? 1) * 1000 }
  return undefined
}
