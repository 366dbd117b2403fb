/**
 * Ends open streams whose reader lost the right to them at another process: there the key was revoked, or its trigger changed. A
 * process that has a store to itself ends them itself, at once. Source: scale-out, section 3.3.
 */
import { digestOfJson } from '../../base/digest.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Trigger } from '../../spec/key.ts'
import type { Store } from '../../store/store.ts'
import { detailOf } from '../http/detail.ts'
import type { StreamReaders } from './readers.ts'

const LOOK_EVERY_MS = 3000
/** Signed-in browsers, the newest first. */
const MAX_CONSOLE_SESSIONS = 1000

/** What an owner of streams may read, as text that changes with it; undefined where it may read nothing any more. */
type ReaderRights = ReadonlyMap<string, string | undefined>

export interface ReaderWatchParts {
  readonly store: Store
  readonly workspaceId: WorkspaceId
  readonly readers: StreamReaders
  readonly log: Log
}

/** What the keys of a trigger may read, as text. A request knows the trigger by which it was let in. */
export const rightsOf = (trigger: Trigger): string => digestOfJson(trigger)

/** @returns ends the watch */
export function watchReaderRights({ store, workspaceId, readers, log }: ReaderWatchParts): () => void {
  let before: ReaderRights = new Map()
  let looking = false

  async function look(): Promise<void> {
    const owners = readers.owners()
    const rights = owners.length === 0 ? new Map<string, string>() : await readRights(store, workspaceId, owners)
    for (const owner of owners) {
      const now = rights.get(owner)
      if (now === undefined || (before.has(owner) && before.get(owner) !== now)) readers.stop(owner)
      else readers.stopOthers(owner, now)
    }
    before = rights
  }

  const timer = setInterval(() => {
    if (looking) return
    looking = true
    look()
      // Nothing is stored while the database is away, so a stream has nothing to show either.
      .catch((error: unknown) =>
        log.write('warn', 'rights of open streams could not be read', { detail: detailOf(error) }),
      )
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

async function readRights(store: Store, workspaceId: WorkspaceId, owners: readonly string[]): Promise<ReaderRights> {
  const isWanted = (prefix: string): boolean => owners.some((owner) => owner.startsWith(prefix))
  const rights = new Map<string, string | undefined>()
  if (owners.some((owner) => !owner.includes(':'))) {
    const triggers = new Map((await store.triggers(workspaceId)).map((trigger) => [trigger.id, rightsOf(trigger)]))
    for (const { id, revokedAt, triggerId } of await store.keys(workspaceId))
      if (revokedAt === null) rights.set(id, triggers.get(triggerId))
  }
  if (isWanted('operator:')) {
    const revoked = new Map<string, number>()
    for (const { email, revokedAt } of await store.operatorKeys(workspaceId))
      revoked.set(email, (revoked.get(email) ?? 0) + (revokedAt === null ? 0 : 1))
    // Operators of the local channel have no credential that could be revoked.
    for (const owner of owners.filter((each) => each.startsWith('operator:')))
      rights.set(owner, String(revoked.get(owner.slice('operator:'.length)) ?? 0))
  }
  if (isWanted('console:'))
    for (const { id, endedAt } of await store.consoleSessions(workspaceId, MAX_CONSOLE_SESSIONS))
      if (endedAt === null) rights.set(`console:${id}`, 'open')
  return rights
}
