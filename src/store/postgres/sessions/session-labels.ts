import type { SessionLabels } from '../../queries.ts'
import { fail } from '../../../base/failure.ts'
import { toText } from '../../rows/json-column.ts'
import type { Store } from '../../store.ts'
import type { PostgresPool } from '../database/pool.ts'

/** The arguments of `label_session`: an absent one changes nothing, a title of null is removed. */
export const toLabelColumns = ({ title, metadata, tags, legalHold }: SessionLabels) => ({
  has_title: title !== undefined,
  title: title ?? null,
  has_metadata: metadata !== undefined,
  metadata: metadata ? toText(metadata) : null,
  tags: tags ?? null,
  tags_text: tags ? toText(tags) : null,
  legal_hold: legalHold ?? null,
})

export const labelMethods = (db: PostgresPool): Pick<Store, 'labelSession'> => ({
  labelSession: (id, labels) =>
    db.transaction(async (tx) => {
      const set = await tx.row<{ done: boolean }>(
        `select label_session(
           :id::uuid, :has_title, :title, :metadata, :has_metadata, :tags::text[], :legal_hold, :tags_text
         ) as done`,
        { id, ...toLabelColumns(labels) },
      )
      if (set?.done) return
      const stored = await tx.row('select 1 as found from session where id = :id', { id })
      throw stored ? fail('session_erased') : fail('not_found', { what: 'session' })
    }),
})
