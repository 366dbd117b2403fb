/** The last checkpoint of each workspace that reached its copies. Source: docs/design/audit.md#checkpoints-that-are-required */
import type { CheckpointReport } from '../../spec/steer/checkpoint-demand.ts'
import { readRow, writeRows, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'

export const CHECKPOINT_REPORTS = defineTable<CheckpointReport>('checkpoint_report', {
  workspaceId: 'text',
  at: 'integer',
  by: 'text',
  size: 'integer',
})

const LAST = `${CHECKPOINT_REPORTS.select} where workspace_id = :workspaceId`
const KEEP = `${CHECKPOINT_REPORTS.insert}
  on conflict (workspace_id) do update set at = excluded.at, by = excluded.by, size = excluded.size`

export function prepareCheckpointReports(): NounWork<'checkpointReport', 'keepCheckpointReport'> {
  return {
    reads: {
      *checkpointReport(workspaceId) {
        const row = yield* readRow(LAST, { workspaceId })
        return row && CHECKPOINT_REPORTS.toRecord(row)
      },
    },
    writes: {
      *keepCheckpointReport(report) {
        yield* writeRows(KEEP, CHECKPOINT_REPORTS.toValues(report))
      },
    },
    transactions: {},
  }
}
