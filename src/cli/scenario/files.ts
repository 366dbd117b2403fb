import { nameId, workspaceIdOf } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { isFileRef, type FileRef } from '../../spec/file.ts'
import type { Project } from '../project/project.ts'
import type { ScenarioServer } from './scenario-server.ts'

/**
 * Files that the input refers to count as uploaded. They have no bytes: what a run reads of them says the double of
 * `svc.read_file`.
 */
export async function fakeFiles(
  { store, time }: ScenarioServer,
  project: Project,
  input: JsonValue = null,
): Promise<void> {
  const workspaceId = workspaceIdOf(project.workspace)
  const now = time.clock.now()
  for (const { filename, mediaType = 'application/octet-stream' } of refsIn(input)) {
    if (await store.fileByName(workspaceId, filename)) continue
    const id = nameId<'file'>('scenario', filename)
    const objectKey = `${workspaceId}/files/${filename}`
    const file = { id, workspaceId, objectKey, stagingKey: `staging/${id}`, filename, mediaType, maxBytes: 1 }
    await store.presignFile({ ...file, sizeBytes: null, createdAt: now, expiresAt: now + 1, finalizedAt: null }, null)
    await store.finalizeFile(id, 0, now)
  }
}

function refsIn(value: JsonValue): readonly FileRef[] {
  if (isFileRef(value)) return [value]
  if (Array.isArray(value)) return value.flatMap(refsIn)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(refsIn) : []
}
