/** An output that is not valid and that an operator may put right. Source: decisions, sections 8 and 16. */
import type { TaskRequest } from '../task.ts'

/** What the agent gave instead, as text; undefined where a task is about something else. */
export function outputUnderReview({ kind, tool, context = {} }: TaskRequest): string | undefined {
  if (kind !== 'escalation' || tool !== undefined) return undefined
  const { output, errors } = context
  return typeof output === 'string' && Array.isArray(errors) ? output : undefined
}
