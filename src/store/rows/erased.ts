import { isJsonObject, type JsonValue } from '../../base/json/json.ts'
import type { TaskRecord } from '../../spec/task.ts'

/** Amounts stay, so that limits on sums over a window go on holding. */
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

/** What was asked about which call, and how it was decided by whom. */
export function withoutWords(task: TaskRecord): Omit<TaskRecord, 'votes'> {
  const { id, sessionId, runId, kind, status, callId, about, createdAt, completedAt, expiresAt } = task
  const { tool, argumentsDigest, actionDigest, decisionId, approvalsRequired, answer } = task
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
    answer: answer && {
      outcome: answer.outcome,
      ...(answer.approved !== undefined && { approved: answer.approved }),
      ...(answer.completedBy !== undefined && { completedBy: answer.completedBy }),
    },
  }
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  return { id, sessionId, runId, kind, status, title: '', createdAt, ...present }
}
