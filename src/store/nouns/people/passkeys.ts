/** Passkeys of people, and the secrets that are good once. */
import type { OneTimeToken, Passkey } from '../../../spec/people/passkey.ts'
import type { Dialect } from '../../dialect.ts'
import { readRow, readRows, writeRows, type NounWork } from '../../statement.ts'
import { defineTable } from '../record-table.ts'

export const PASSKEYS = defineTable<Passkey>('passkey', {
  id: 'text',
  workspaceId: 'text',
  operator: 'text',
  name: 'text',
  credentialId: 'text',
  publicKey: 'text',
  algorithm: 'integer',
  signCount: 'integer',
  isDeviceBound: 'boolean',
  isBackedUp: 'boolean',
  createdAt: 'integer',
  lastUsedAt: 'integer',
  removedAt: 'integer',
})

export const ONE_TIME_TOKENS = defineTable<OneTimeToken>('one_time_token', {
  hash: 'text',
  workspaceId: 'text',
  purpose: 'text',
  operator: 'text',
  subject: 'text',
  createdAt: 'integer',
  expiresAt: 'integer',
  usedAt: 'integer',
})

type PasskeyWrites = 'createPasskey' | 'usePasskey' | 'removePasskey' | 'putOneTimeToken' | 'useOneTimeToken'

export function preparePasskeys({ insertionOrder }: Dialect): NounWork<'passkeys' | 'oneTimeToken', PasskeyWrites> {
  const ofWorkspace = `${PASSKEYS.select} where workspace_id = :workspaceId and removed_at is null
    order by created_at, ${insertionOrder}`
  const byHash = `${ONE_TIME_TOKENS.select} where hash = :hash`
  return {
    reads: {
      *passkeys(workspaceId) {
        return (yield* readRows(ofWorkspace, { workspaceId })).map(PASSKEYS.toRecord)
      },
      *oneTimeToken(hash) {
        const row = yield* readRow(byHash, { hash })
        return row && ONE_TIME_TOKENS.toRecord(row)
      },
    },
    writes: {
      *createPasskey(passkey) {
        yield* writeRows(PASSKEYS.insert, PASSKEYS.toValues(passkey))
      },
      *usePasskey(id, { signCount, isBackedUp, at }) {
        // Of two uses in one moment the later count stays.
        yield* writeRows(
          `update passkey
           set sign_count = case when sign_count > :signCount then sign_count else :signCount end,
             is_backed_up = :isBackedUp, last_used_at = :at
           where id = :id`,
          { id, signCount, isBackedUp, at },
        )
      },
      *removePasskey(id, at) {
        const sql = 'update passkey set removed_at = :at where id = :id and removed_at is null'
        return (yield* writeRows(sql, { id, at })) > 0
      },
      *putOneTimeToken(token, deletesBefore) {
        yield* writeRows('delete from one_time_token where expires_at < :deletesBefore', { deletesBefore })
        yield* writeRows(ONE_TIME_TOKENS.insert, ONE_TIME_TOKENS.toValues(token))
      },
      *useOneTimeToken(hash, at) {
        const sql = `update one_time_token set used_at = :at
          where hash = :hash and used_at is null and expires_at > :at`
        return (yield* writeRows(sql, { hash, at })) > 0
      },
    },
    transactions: {},
  }
}
