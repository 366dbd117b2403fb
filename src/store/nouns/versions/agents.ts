/** Agents, with the version that is deployed. */
import { readRow, readRows, type NounWork } from '../../statement.ts'
import type { AgentRow } from '../../version-rows.ts'
import { defineTable } from '../record-table.ts'

export const AGENTS = defineTable<AgentRow>('agent', {
  id: 'text',
  workspaceId: 'text',
  name: 'text',
  deployedVersionId: 'text',
  previousVersionId: 'text',
  deployedUntil: 'integer',
})

export function prepareAgents(): NounWork<'agent' | 'agents', never> {
  const { select, toRecord } = AGENTS
  const one = `${select} where id = :id`
  const ofWorkspace = `${select} where workspace_id = :workspaceId order by name`
  return {
    reads: {
      *agent(id) {
        const row = yield* readRow(one, { id })
        return row && toRecord(row)
      },
      *agents(workspaceId) {
        return (yield* readRows(ofWorkspace, { workspaceId })).map(toRecord)
      },
    },
    writes: {},
    transactions: {},
  }
}
