/**
 * Ends open streams whose reader lost its rights without this process noticing: another process revoked the key or
 * credential, changed the trigger or ended the console session; or this one did while the stream was being opened.
 * Source: docs/design/security.md#keys
 */
import { digestOfJson } from '../../base/digest.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Trigger } from '../../spec/people/key.ts'
import { isStoreAway } from '../../store/store-away.ts'
import type { CatalogStore } from '../../store/catalog-store.ts'
import { detailOf } from '../http/detail.ts'
import type { ReaderGrants, StreamReaders } from './readers.ts'

const LOOK_EVERY_MS = 3000
/** Signed-in browsers, the newest first. */
const MAX_CONSOLE_SESSIONS = 1000

export interface ReaderWatchParts {
  readonly store: CatalogStore
  readonly workspaceId: WorkspaceId
  readonly readers: StreamReaders
  readonly log: Log
}

/** The rights of a trigger's keys, as text. A request has the trigger that admitted it. */
export const rightsOf = (trigger: Trigger): string => digestOfJson(trigger)

/** The rights of an operator, until they are revoked. */
export const EVERYTHING = 'everything'
/** The identity of the local channel, which has no credential and cannot be revoked. */
export const LOCAL_READER = 'local'
/** @returns the owner of the streams of a session of the console */
export const consoleReader = (sessionId: string): string => `console:${sessionId}`

/** @returns ends the watch */
export function watchReaderRights({ store, workspaceId, readers, log }: ReaderWatchParts): () => void {
  let looking = false

  async function look(): Promise<void> {
    const owners = readers.owners()
    if (owners.length === 0) return
    const rights = await readRights(store, workspaceId, owners)
    for (const owner of owners) readers.stopOthers(owner, rights[owner])
  }

  const timer = setInterval(() => {
    if (looking) return
    looking = true
    look()
      // While the database is out of reach nothing is stored, so a stream has nothing to show.
      .catch((error: unknown) => {
        if (!isStoreAway(error))
          log.write('warn', 'rights of open streams could not be read', { detail: detailOf(error) })
      })
      .finally(() => (looking = false))
  }, LOOK_EVERY_MS).unref()
  return () => clearInterval(timer)
}

/** The present rights of the owners; an owner without rights is absent. */
async function readRights(
  store: CatalogStore,
  workspaceId: WorkspaceId,
  owners: readonly string[],
): Promise<ReaderGrants> {
  const rights: Record<string, string> = { [LOCAL_READER]: EVERYTHING }
  if (owners.some((owner) => owner !== LOCAL_READER && !owner.startsWith(consoleReader('')))) {
    const triggers = new Map((await store.triggers(workspaceId)).map((trigger) => [trigger.id, rightsOf(trigger)]))
    for (const { id, revokedAt, triggerId } of await store.keys(workspaceId)) {
      const ofTrigger = triggers.get(triggerId)
      if (revokedAt === null && ofTrigger !== undefined) rights[id] = ofTrigger
    }
    for (const { id, revokedAt } of await store.operatorKeys(workspaceId))
      if (revokedAt === null) rights[id] = EVERYTHING
  }
  if (owners.some((owner) => owner.startsWith(consoleReader(''))))
    for (const { id, endedAt } of await store.consoleSessions(workspaceId, MAX_CONSOLE_SESSIONS))
      if (endedAt === null) rights[consoleReader(id)] = EVERYTHING
  return rights
}
