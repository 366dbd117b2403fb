/** Whether an export has what a log of checkpoints had signed. Source: docs/design/audit.md#checkpoints */
import { isSignedBy, type CheckpointKey } from '../../../spec/chain/checkpoint.ts'
import { readAuditLog } from './audit-log.ts'
import type { AuditOffence, VerifiedArchive } from './verify-archive.ts'

export interface CheckedLog {
  readonly offence: AuditOffence | null
  readonly checkpoints: number
  /** Number of the last act that is signed. */
  readonly acts: number
  /** Sessions that are signed, and those of them that the export does not have. */
  readonly sessions: number
  readonly missing: number
}

export function checkLog(
  text: string,
  keys: readonly CheckpointKey[],
  { hashes, sessions }: VerifiedArchive,
): CheckedLog {
  const found = (session: string | null, seq: number, what: string): CheckedLog => ({
    offence: { session, seq, rule: 'checkpoint', what },
    checkpoints: 0,
    acts: 0,
    sessions: 0,
    missing: 0,
  })
  const log = readAuditLog(text)
  if (typeof log === 'string') return found(null, 0, `The log is not as it was written: ${log}.`)
  if (log.checkpoints.length === 0) return found(null, 0, 'The log has no checkpoint.')
  const forged = log.checkpoints.find((each) => !isSignedBy(each, keys))
  if (forged) return found(null, forged.size, `No trusted key has signed the checkpoint of ${forged.size} lines.`)
  let acts = 0
  const signed = new Set<string>()
  for (const head of log.heads) {
    if ('act' in head) {
      if (hashes[head.act - 1] !== head.hash)
        return found(null, head.act, `Act ${head.act} is another one than the one that was signed, or is gone.`)
      acts = head.act
      continue
    }
    const { session, version, hash } = head
    signed.add(session)
    const links = sessions.get(session)
    if (links && links.get(version) !== hash)
      return found(
        session,
        version,
        `The save ${version} of session ${session} is another one than the one that was signed, or is gone.`,
      )
  }
  const missing = [...signed].filter((session) => !sessions.has(session)).length
  return { offence: null, checkpoints: log.checkpoints.length, acts, sessions: signed.size, missing }
}
