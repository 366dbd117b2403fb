/** Revocations and renewals of standing authorities, and the version of the history that decisions beyond their session depend on. */
import type { WorkspaceId } from '../../base/ids.ts'
import type { Dialect } from '../dialect.ts'
import { readRows, writeRows, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

interface StandingRecord {
  readonly workspaceId: WorkspaceId
  readonly name: string
  readonly revoked: boolean
  readonly at: number
  readonly by: string
  readonly reason: string
}

export const STANDING_ACTS = defineTable<StandingRecord>('standing_act', {
  workspaceId: 'text',
  name: 'text',
  revoked: 'boolean',
  at: 'integer',
  by: 'text',
  reason: 'text',
})

export function prepareStanding({ isTrue }: Dialect): NounWork<'workspaceHistory', never, 'setStandingRevoked'> {
  const { insert, toValues } = STANDING_ACTS
  // One row for each revoked authority, the last act of a name being in force; one without a name where there are none.
  const history = `select v.version, x.name
    from (select coalesce(max(version), 0) as version from history_fence where workspace_id = :workspaceId) v
      left join (
        select name from standing_act
        where n in (select max(n) from standing_act where workspace_id = :workspaceId group by name) and ${isTrue('revoked')}
      ) x on true
    order by x.name`
  const raise = `insert into history_fence (workspace_id, version) values (:workspaceId, 1)
    on conflict (workspace_id) do update set version = history_fence.version + 1`
  return {
    reads: {
      *workspaceHistory(workspaceId) {
        const rows = yield* readRows<{ version: number; name: string | null }>(history, { workspaceId })
        const first = expectDefined(rows[0], 'the query gives a row also where nothing is revoked')
        return { version: first.version, revoked: rows.flatMap(({ name }) => name ?? []) }
      },
    },
    writes: {},
    transactions: {
      *setStandingRevoked(workspaceId, { name, isRevoked, at, by, reason }) {
        yield* writeRows(raise, { workspaceId })
        yield* writeRows(insert, toValues({ workspaceId, name, revoked: isRevoked, at, by, reason }))
      },
    },
  }
}
