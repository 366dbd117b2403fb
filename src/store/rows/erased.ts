import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { TaskRecord } from '../../spec/task.ts'

/** Keeps amounts, so that limits on sums over a window still hold. */
export function onlyNumbers(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value
  if (Array.isArray(value)) return value.map(onlyNumbers)
  if (!isJsonObject(value)) return null
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => {
      const left = onlyNumbers(each)
      const isEmpty = left === null || (isJsonObject(left) && Object.keys(left).length === 0)
      return isEmpty ? [] : [[key, left]]
    }),
  )
}

/** Keeps the question, its call, and who decided it how. */
export function withoutWords(task: TaskRecord): Omit<TaskRecord, 'votes'> {
  const { id, sessionId, runId, kind, status, callId, about, createdAt, completedAt, expiresAt } = task
  const { tool, argumentsDigest, actionDigest, decisionId, approvalsRequired, approvalProof, voteOrigins, answer } =
    task
  const kept = {
    callId,
    about,
    completedAt,
    expiresAt,
    tool,
    argumentsDigest,
    actionDigest,
    decisionId,
    approvalsRequired,
    approvalProof,
    voteOrigins,
    answer: answer && {
      outcome: answer.outcome,
      ...(answer.approved !== undefined && { approved: answer.approved }),
      ...(answer.completedBy !== undefined && { completedBy: answer.completedBy }),
      ...(answer.origin && { origin: answer.origin }),
    },
  }
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  return { id, sessionId, runId, kind, status, title: '', createdAt, ...present }
}
