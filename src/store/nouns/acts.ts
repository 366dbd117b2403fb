/** The log of acts: a chain for each workspace, numbered without gaps. */
import { randomUUID } from 'node:crypto'
import type { ActContent, ActRecord, NewAct, StoredAct } from '../../spec/people/act.ts'
import { linkOfAct } from '../../spec/chain/verify-acts.ts'
import { toSetupDigest } from '../../spec/chain/setup-row.ts'
import type { SetupDigest } from '../../spec/people/setup-name.ts'
import { CHAIN_START, hashOfLink, saltedDigest } from '../../spec/chain/hash-chain.ts'
import type { Dialect } from '../dialect.ts'
import { joinClauses } from '../rows/filter.ts'
import { readRow, readRows, writeRows, type DatabaseWork, type NounWork } from '../statement.ts'
import { defineTable } from './record-table.ts'
import { prepareSetupReader } from './setup-rows.ts'

export const ACTS = defineTable<ActRecord>('act', {
  workspaceId: 'text',
  seq: 'integer',
  at: 'integer',
  kind: 'text',
  by: 'text',
  proof: 'text',
  keyId: 'text',
  channel: 'text',
  subject: 'text',
  sessionId: 'uuid',
  runId: 'uuid',
  refused: 'text',
  counted: 'integer',
  content: 'text',
  contentDigest: 'text',
  salt: 'text',
  rowDigests: 'json',
  hash: 'text',
})

/** Acts of earlier versions of svc name no rows. */
function toActRecord(row: object): ActRecord {
  const { rowDigests, ...record } = ACTS.toRecord(row)
  return rowDigests ? { ...record, rowDigests } : record
}

const toStoredAct = (row: ActRecord): StoredAct => ({
  ...row,
  content: row.content === null ? null : (JSON.parse(row.content) as ActContent),
})

export function prepareActs(dialect: Dialect): NounWork<'acts' | 'actsInOrder', never, 'addAct'> {
  const { lock, isOneOf } = dialect
  const { select, insert, toValues } = ACTS
  const { linesOf } = prepareSetupReader(dialect)
  const last = 'select seq, hash from act where workspace_id = :workspaceId order by seq desc limit 1'
  const inOrder = `${select} where workspace_id = :workspaceId and seq > :after order by seq limit :limit`
  const toAct = (row: object): StoredAct => toStoredAct(toActRecord(row))
  return {
    reads: {
      *acts({ workspaceId, kinds, by, since, until, sessionId, runId, after }, { skip, take }) {
        const { where, values } = joinClauses([
          ['workspace_id = :workspaceId', workspaceId],
          [isOneOf('kind', 'kinds'), kinds],
          ['by = :by', by],
          ['at >= :since', since],
          ['at < :until', until],
          ['session_id = :sessionId', sessionId],
          ['run_id = :runId', runId],
          ['seq > :after', after],
        ])
        const page = `${select} where ${where} order by seq desc limit :take offset :skip`
        const items = yield* readRows(page, { ...values, take, skip })
        const counted = yield* readRow<{ total: number }>(`select count(*) as total from act where ${where}`, values)
        return { items: items.map(toAct), total: counted!.total }
      },
      *actsInOrder(workspaceId, after, limit) {
        return (yield* readRows(inOrder, { workspaceId, after, limit })).map(toActRecord)
      },
    },
    writes: {},
    transactions: {
      *addAct(act: NewAct): DatabaseWork<void> {
        const { reason, address, before, after, setup, ...record } = act
        const { workspaceId } = act
        // The last lock of a transaction, so that acts of several processes follow each other and never wait in a circle.
        yield* lock(`acts ${workspaceId}`)
        const head = yield* readRow<{ seq: number; hash: string }>(last, { workspaceId })
        const content = JSON.stringify({ reason, address, before, after } satisfies ActContent)
        const salt = randomUUID()
        const rowDigests: SetupDigest[] = []
        for (const name of new Set(setup)) rowDigests.push(toSetupDigest(salt, name, yield* linesOf(workspaceId, name)))
        const row = {
          ...record,
          rowDigests,
          seq: (head?.seq ?? 0) + 1,
          content,
          contentDigest: saltedDigest(salt, content),
          salt,
        }
        const hash = hashOfLink(head?.hash ?? CHAIN_START, linkOfAct({ ...row, hash: '' }))
        yield* writeRows(insert, toValues({ ...row, hash }))
      },
    },
  }
}
