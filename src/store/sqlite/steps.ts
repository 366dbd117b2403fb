import type { RunId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'
import type { StepTexts } from '../../spec/chain/session-link.ts'
import { toPlainText, toText } from '../rows/json-column.ts'
import { splitContent } from '../rows/step-content.ts'
import type { StepEnd } from '../session-update.ts'
import { prepareInsert } from './database/insert-rows.ts'
import type { Database } from 'better-sqlite3'

export interface StepTable {
  /** @returns what is stored of the content of each */
  add(
    sessionN: number,
    steps: readonly RunStep[],
    runNumber: (id: RunId) => number,
  ): readonly Omit<StepTexts, 'error'>[]
  close(sessionN: number, end: StepEnd): void
}

export function openSteps(db: Database): StepTable {
  const addResult = db.prepare<[string, string]>(
    'insert into large_result (digest, result) values (?, ?) on conflict do nothing',
  )
  const insert = prepareInsert(
    db,
    `step (
       session_n, ordinal, run_n, sequence, id, type, content, result_digest, hidden, tokens_used, error, started_at, finished_at
     )`,
    13,
  )
  const close = db.prepare(
    `update step
     set finished_at = ?, error = ?
     where session_n = ? and ordinal = ? and finished_at is null`,
  )
  return {
    add(sessionN, steps, runNumber) {
      const texts = steps.map((step) => {
        const { content, large } = splitContent(step)
        if (large) addResult.run(large.digest, large.result)
        return { content, resultDigest: large?.digest ?? null, hidden: toText(step.hidden) }
      })
      insert(
        texts.map(({ content, resultDigest, hidden }, at) => {
          const step = steps[at]!
          return [
            sessionN,
            step.ordinal,
            runNumber(step.runId),
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
          ]
        }),
      )
      return texts
    },
    close: (sessionN, { ordinal, finishedAt, error }) =>
      void close.run(finishedAt, toPlainText(error), sessionN, ordinal),
  }
}
