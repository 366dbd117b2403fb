/** Workspace files as message parts for the model. Source: docs/design/models-and-tools.md#prompts */
import type { WorkspaceId } from '../../base/ids.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { MessagePart } from '../../providers/provider.ts'
import type { CatalogStore } from '../../store/catalog-store.ts'
import type { AttachedParts } from '../prompt/messages.ts'

/** Longer text files are not attached; the model reads them in pieces with `svc.read_file`. */
const MAX_TEXT_BYTES = 256 * 1024

const TEXT_TYPES = /^(text\/|application\/(json|xml|yaml|x-yaml|javascript|x-ndjson)\b|[^;]*\+(json|xml)\b)/

export async function attachFiles(
  store: CatalogStore,
  blobs: Blobs | undefined,
  workspace: WorkspaceId,
  names: readonly string[],
): Promise<AttachedParts> {
  const parts = await Promise.all(
    names.map(async (name) => [name, await partsOf(store, blobs, workspace, name)] as const),
  )
  return new Map(parts)
}

async function partsOf(
  store: CatalogStore,
  blobs: Blobs | undefined,
  workspace: WorkspaceId,
  name: string,
): Promise<MessagePart[]> {
  const file = await store.fileByName(workspace, name)
  if (!file || !blobs) return [textPart(`The file ${name} cannot be read.`)]
  const mediaType = file.mediaType.toLowerCase()
  const isText = TEXT_TYPES.test(mediaType)
  if (isText && (file.sizeBytes ?? 0) > MAX_TEXT_BYTES) {
    return [
      textPart(
        `The file ${name} (${mediaType}, ${file.sizeBytes} bytes) is too long to be shown; read it with svc.read_file.`,
      ),
    ]
  }
  if (!isText && !mediaType.startsWith('image/') && mediaType !== 'application/pdf')
    return [textPart(`File: ${name} (${mediaType}, ${file.sizeBytes} bytes)`)]
  const bytes = await blobs.get(file.objectKey)
  if (!bytes) return [textPart(`The file ${name} cannot be read.`)]
  if (isText) return [textPart(`File ${name}:\n${new TextDecoder().decode(bytes)}`)]
  return [{ type: 'file', filename: name, mediaType, bytes }]
}

const textPart = (text: string): MessagePart => ({ type: 'text', text })
