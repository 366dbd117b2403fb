/**
 * The content of a card as one value. Its digest is sent with the decision, and the server refuses any other digest.
 * Browser and server compute it from the task with the function that draws the card, so people decide what they see. It
 * excludes the progress of votes, since another vote does not change the call.
 * Source: docs/design/approvals.md#the-card
 */
import type { JsonObject, JsonValue } from '../../base/json/json.ts'
import { presentTask, type CardRow } from './task-card.ts'
import type { ShownTask } from '../../spec/task.ts'

/** Metadata of an answer: `sha256:` of the canonical text of `describeTaskView`. */
export const VIEW_DIGEST = 'svc/view_digest'

export function describeTaskView(task: ShownTask): JsonObject {
  // Includes the deadline as a moment, because the remaining time changes while somebody reads.
  const { title, sideEffect, isIrreversible, rows, argumentsDigest } = presentTask(task, 0)
  return {
    format: 'svc.view.v1',
    task: task.id,
    run: task.runId,
    agent: task.agent,
    kind: task.kind,
    title,
    sideEffect: sideEffect ?? null,
    isIrreversible,
    argumentsDigest: argumentsDigest ?? null,
    approvalsRequired: task.approvalsRequired ?? null,
    role: task.people?.role ?? null,
    approvalProof: task.approvalProof ?? null,
    comprehensionRequired: task.comprehensionRequired ?? false,
    expiresAt: task.expiresAt ?? null,
    onTimeout: task.onTimeout ?? null,
    onReject: task.onReject ?? null,
    onModify: task.onModify ?? null,
    options: (task.options ?? []).map(({ id, label }) => ({ id, label })),
    rows: rows.filter(({ label }) => !PROGRESS.has(label)).map(describeRow),
  }
}

/** Rows about the progress of the decision, about claims and about who was told. */
const PROGRESS: ReadonlySet<string> = new Set(['votes', 'decided', 'how', 'you', 'looking', 'told'])

function describeRow(row: CardRow): JsonObject {
  if ('text' in row) return { label: row.label, text: row.text, place: row.place ?? null }
  const values = row.values.map(({ name, text, unit, limit, place }): JsonValue => ({
    name,
    text,
    unit: unit ?? null,
    limit: limit ?? null,
    place: place ?? null,
  }))
  return { label: row.label, values }
}
