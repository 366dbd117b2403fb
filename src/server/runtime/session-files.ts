/** The files of a session, for `svc.read_file`: those that a client marked in its input or sent with a message. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { SessionId } from '../../base/ids.ts'
import { isJsonObject } from '../../base/json/json.ts'
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
  // Only the input of root runs comes from the client: a sub-agent's input is written by a model.
  const runs = await store.runsOfSession(session.id)
  const roots = new Set(runs.flatMap(({ id, parentRunId }) => (parentRunId === null ? [id] : [])))
  const steps = (await store.stepsOfSession(session.id)).filter(({ runId }) => roots.has(runId))
  if (!steps.some((step) => shows(step, filename))) return undefined
  const file = await store.fileByName(session.workspaceId, filename)
  const bytes = file && (await blobs.get(file.objectKey))
  return bytes && { mediaType: file.mediaType, bytes }
}

function shows({ type, content: { files } }: RunStep, filename: string): boolean {
  return (
    type === 'UserMessage' &&
    Array.isArray(files) &&
    files.some((each) => isJsonObject(each) && each['filename'] === filename)
  )
}
