/** The files of a session, for `svc.read_file`: those that a client marked in its input or sent with a message. */
import { setImmediate } from 'node:timers/promises'
import type { Blobs } from '../../blobs/blobs.ts'
import type { SessionId } from '../../base/ids.ts'
import { isJsonObject } from '../../base/json/json.ts'
import type { Session } from '../../spec/run/session.ts'
import type { RunStep } from '../../spec/step.ts'
import type { Store } from '../../store/store.ts'

export async function readSessionFile(
  store: Store,
  blobs: Blobs,
  sessionId: string,
  filename: string,
): Promise<{ readonly mediaType: string; readonly bytes: Uint8Array } | undefined> {
  const session = await store.session(sessionId as SessionId)
  if (!session) return undefined
  const file = await store.fileByName(session.workspaceId, filename)
  if (!file || !(await wasGiven(store, session, filename))) return undefined
  const bytes = await blobs.get(file.objectKey)
  return bytes && { mediaType: file.mediaType, bytes }
}

/** Messages read at once. */
const PAGE = 200

/** True if a root run was given the file. Only their input comes from the client: a sub-agent's input is written by a model. */
async function wasGiven(store: Store, { id, lastOrdinal }: Session, filename: string): Promise<boolean> {
  for (let before = lastOrdinal + 1; ;) {
    const said = await store.saidBefore(id, before, PAGE)
    const [oldest] = said
    if (!oldest) return false
    if (said.some((step) => shows(step, filename))) return true
    before = oldest.ordinal
    await setImmediate()
  }
}

function shows({ type, content: { files } }: RunStep, filename: string): boolean {
  return (
    type === 'UserMessage' &&
    Array.isArray(files) &&
    files.some((each) => isJsonObject(each) && each['filename'] === filename)
  )
}
