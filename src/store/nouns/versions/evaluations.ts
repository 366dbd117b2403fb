/** Evaluations that were kept. Source: docs/design/evals.md#kept-evaluations */
import type { KeptEvaluation } from '../../../spec/evaluation.ts'
import { readOneRow, readRows, writeRows, type NounWork } from '../../statement.ts'
import { defineTable } from '../record-table.ts'

export const EVALUATIONS = defineTable<KeptEvaluation>('evaluation', {
  id: 'text',
  workspaceId: 'text',
  at: 'integer',
  by: 'text',
  agent: 'text',
  report: 'json',
})

const OF_WORKSPACE = `workspace_id = :workspaceId and (:agent = '' or agent = :agent)`
const COUNT = `select count(*) as total from evaluation where ${OF_WORKSPACE}`
const DELETE_OLD = `delete from evaluation where workspace_id = :workspaceId and id not in
  (select id from evaluation where workspace_id = :workspaceId order by at desc, id desc limit :most)`

const PAGE = `${EVALUATIONS.select} where ${OF_WORKSPACE} order by at desc, id desc limit :take offset :skip`

export function prepareEvaluations(): NounWork<'evaluations', 'keepEvaluation'> {
  return {
    reads: {
      *evaluations(workspaceId, { agent = '', skip, take }) {
        const { total } = yield* readOneRow<{ total: number }>(COUNT, { workspaceId, agent })
        const rows = yield* readRows(PAGE, { workspaceId, agent, skip, take })
        return { items: rows.map(EVALUATIONS.toRecord), total }
      },
    },
    writes: {
      *keepEvaluation(evaluation, most) {
        yield* writeRows(EVALUATIONS.insert, EVALUATIONS.toValues(evaluation))
        yield* writeRows(DELETE_OLD, { workspaceId: evaluation.workspaceId, most })
      },
    },
    transactions: {},
  }
}
