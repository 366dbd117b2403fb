/** An invalid output that an operator may correct. Source: docs/design/models-and-tools.md#output */
import type { TaskRequest } from '../spec/task.ts'

/** The agent's invalid output as text; undefined if the task has another subject. */
export function outputUnderReview({ kind, tool, context = {} }: TaskRequest): string | undefined {
  if (kind !== 'escalation' || tool !== undefined) return undefined
  const { output, errors } = context
  return typeof output === 'string' && Array.isArray(errors) ? output : undefined
}
