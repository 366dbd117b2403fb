/** Files of the workspace. Source: docs/design/command-line.md#driving */
import { toIsoText } from '../../base/clock.ts'
import type { StoredFile } from '../../spec/file.ts'
import type { FileView } from '../../operations/sessions.ts'
import { openBlobs, type ServerServices } from '../runtime/services.ts'
import { readBytes } from '../http/body.ts'
import { presignUpload, registerUpload } from '../routes/files.ts'
import { pageOf } from '../http/validate.ts'
import type { OperatorAction } from './people/act.ts'
import { notFoundFailure } from './find/find.ts'

export const listFiles: OperatorAction<'GET /files'> = async ({ services: { store, workspace }, query }) => {
  const { items, total } = await store.files(workspace.id, pageOf(query))
  return { items: items.map(toFileView), total }
}

export const getFile: OperatorAction<'GET /files/content'> = async ({ services, query, consoleSession }) => {
  const file = await findFile(services, query.key)
  const bytes = await (await openBlobs(services)).get(file.objectKey)
  if (!bytes) throw notFoundFailure('file')
  return {
    status: 200,
    stream: new Blob([new Uint8Array(bytes)]).stream(),
    headers: {
      'content-length': String(bytes.length),
      ...(consoleSession === undefined ? { 'content-type': file.mediaType } : asDownload(file.filename)),
    },
  }
}

/** Bytes of a file that are in memory at once; larger ones are uploaded to the storage itself. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024

export const keepFile: OperatorAction<'POST /files'> = async ({ services, operator, query, call, act }) => {
  const bytes = await readBytes(call, MAX_KEPT_BYTES)
  const about = { filename: query.filename, mediaType: query.mediaType, maxContentLength: bytes.length }
  const { objectKey } = await presignUpload(services, operator.workspaceId, about)
  const file = await findReserved(services, objectKey)
  await (await openBlobs(services)).put(file.stagingKey, bytes, file.mediaType)
  const kept = act('file.kept', {
    subject: `file ${file.filename}`,
    after: { bytes: bytes.length, type: file.mediaType },
  })
  await registerUpload(services, await openBlobs(services), file, bytes.length, kept)
  return toFileView((await services.store.fileByKey(services.workspace.id, objectKey)) ?? file)
}

async function findReserved({ store, workspace }: ServerServices, objectKey: string): Promise<StoredFile> {
  const file = await store.fileByKey(workspace.id, objectKey)
  if (!file) throw notFoundFailure('file')
  return file
}

/**
 * In a browser, an untrusted file has the origin of the console: it may only be downloaded, never displayed, run or
 * included.
 */
const asDownload = (filename: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/octet-stream',
  'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(filename).replaceAll(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)}`,
  'content-security-policy': "default-src 'none'; sandbox",
})

/** By object key, or by its last part. */
async function findFile({ store, workspace }: ServerServices, key: string): Promise<StoredFile> {
  const file = (await store.fileByKey(workspace.id, key)) ?? (await store.fileByName(workspace.id, key))
  if (!file || file.finalizedAt === null) throw notFoundFailure(`file "${key}"`)
  return file
}

const toFileView = (file: StoredFile): FileView => ({
  objectKey: file.objectKey,
  filename: file.filename,
  mediaType: file.mediaType,
  sizeBytes: file.sizeBytes ?? 0,
  finalizedAt: toIsoText(file.finalizedAt ?? file.createdAt),
})
