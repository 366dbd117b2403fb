import { nameBasedId, workspaceIdOf } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json/json.ts'
import { isFileRef, type FileRef } from '../../spec/file.ts'
import type { Project } from '../project/project.ts'
import type { ScenarioServer } from './scenario-server.ts'

/**
 * Registers the files that the input refers to as uploaded. They have no bytes: the double of `svc.read_file` defines what a run
 * reads.
 */
export async function fakeFiles(
  { store, time }: ScenarioServer,
  project: Project,
  input: JsonValue = null,
): Promise<void> {
  const workspaceId = workspaceIdOf(project.workspace)
  const now = time.clock.now()
  for (const { filename, mediaType = 'application/octet-stream' } of fileRefsIn(input)) {
    if (await store.fileByName(workspaceId, filename)) continue
    const id = nameBasedId<'file'>('scenario', filename)
    const objectKey = `${workspaceId}/files/${filename}`
    const file = { id, workspaceId, objectKey, stagingKey: `staging/${id}`, filename, mediaType, maxBytes: 1 }
    await store.presignFile({ ...file, sizeBytes: null, createdAt: now, expiresAt: now + 1, finalizedAt: null }, null)
    await store.finalizeFile(id, 0, now)
  }
}

function fileRefsIn(value: JsonValue): readonly FileRef[] {
  if (isFileRef(value)) return [value]
  if (Array.isArray(value)) return value.flatMap(fileRefsIn)
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(fileRefsIn) : []
}
