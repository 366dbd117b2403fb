import type { RunStep } from '../../spec/step.ts'
import type { StepTexts } from '../../spec/session-link.ts'
import { toPlainText, toText } from '../rows/json-column.ts'
import { splitContent } from '../rows/step-content.ts'
import type { StepEnd } from '../session-update.ts'
import type { Database } from 'better-sqlite3'

export interface StepTable {
  /** @returns what is stored of its content */
  add(sessionN: number, runN: number, step: RunStep): Omit<StepTexts, 'error'>
  close(sessionN: number, end: StepEnd): void
}

export function openSteps(db: Database): StepTable {
  const addResult = db.prepare<[string, string]>(
    'insert into large_result (digest, result) values (?, ?) on conflict do nothing',
  )
  const insert = db.prepare(
    `insert into step (
       session_n, ordinal, run_n, sequence, id, type, content, result_digest, hidden, tokens_used, error, started_at, finished_at
     ) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const close = db.prepare(
    `update step
     set finished_at = ?, error = ?
     where session_n = ? and ordinal = ? and finished_at is null`,
  )
  return {
    // The most frequent write, so its values are bound by position, which is the fastest way.
    add(sessionN, runN, step) {
      const { content, large } = splitContent(step)
      if (large) addResult.run(large.digest, large.result)
      const resultDigest = large?.digest ?? null
      const hidden = toText(step.hidden)
      insert.run(
        sessionN,
        step.ordinal,
        runN,
        step.sequence,
        step.id,
        step.type,
        content,
        resultDigest,
        hidden,
        step.tokensUsed,
        toPlainText(step.error),
        step.startedAt,
        step.finishedAt,
      )
      return { content, resultDigest, hidden }
    },
    close: (sessionN, { ordinal, finishedAt, error }) =>
      void close.run(finishedAt, toPlainText(error), sessionN, ordinal),
  }
}
