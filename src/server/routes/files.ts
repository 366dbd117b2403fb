/** Uploads in three steps: presign an address, send the bytes to it, finalize. Source: docs/design/http.md#files */
import { cutText } from '../../base/text/cut-text.ts'
import { dieAtFailpoint } from '../../base/failpoint.ts'
import { fail } from '../../base/failure.ts'
import type { WorkspaceId } from '../../base/ids.ts'
import type { Finalized, Presigned } from '../../spec/api.ts'
import type { NewAct } from '../../spec/people/act.ts'
import type { StoredFile } from '../../spec/file.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { withCaller, type AuthenticatedCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { nameInHost } from '../http/hosts.ts'
import { okReply, type HttpReply } from '../http/reply.ts'
import type { HttpRequestContext, RouteHandler } from '../http/route.ts'
import { openBlobs, type ServerServices } from '../runtime/services.ts'
import { parseFinalize, parsePresign } from '../http/validate.ts'

const ADDRESS_LIFETIME_SECONDS = 900
/** Largest file unless the configuration sets a limit. */
const MAX_FILE_BYTES = 100 * 1024 * 1024

/** POST /v1/file-library/presign: reserves quota, which is released if the upload never arrives. */
export const presignFile = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withUploads(services, identify, async (call, { principal }) => {
    const body = await readJson(call, apiBodyLimits(services.config))
    // The operator's socket has no host name from which the storage could be reached.
    const host = principal.type === 'operator' ? undefined : nameInHost(call.request.headers.get('host'))
    return okReply(await presignUpload(services, principal.workspaceId, body, host))
  })

/** POST /v1/file-library/finalize: checks that the bytes arrived and fit, then moves them out of reach of any upload address. */
export const finalizeFile = (services: ServerServices, identify: IdentifyCaller): RouteHandler => {
  const finalize = createFinalize(services)
  return withUploads(services, identify, async (call, { principal }) =>
    okReply(await finalize(principal.workspaceId, await readJson(call, apiBodyLimits(services.config)))),
  )
}

/** @param askedAs see `Blobs.presignPut` */
export async function presignUpload(
  services: ServerServices,
  workspaceId: WorkspaceId,
  given: unknown,
  askedAs?: string,
): Promise<Presigned> {
  const body = parsePresign(given)
  const { storage, plan } = services.config
  const limit = Math.min(storage?.max_file_bytes ?? MAX_FILE_BYTES, plan?.file_bytes ?? Infinity)
  if (body.maxContentLength > limit) throw fail('file_too_large', { limit })
  const id = services.ids.next<'file'>()
  const filename = `${id}-${sanitise(body.filename)}`
  const now = services.clock.now()
  const file: StoredFile = {
    id,
    workspaceId,
    objectKey: `${workspaceId}/files/${filename}`,
    // The address stays usable until it expires, but it only writes to this key, never to the finalized object.
    stagingKey: `${workspaceId}/staging/${id}`,
    filename,
    mediaType: body.mediaType,
    // A row counts at least one byte; the storage refuses the first byte of an empty file.
    maxBytes: Math.max(1, body.maxContentLength),
    sizeBytes: null,
    createdAt: now,
    expiresAt: now + ADDRESS_LIFETIME_SECONDS * 1000,
    finalizedAt: null,
  }
  const blobs = await openBlobs(services)
  const { url, headers } = await blobs.presignPut(
    file.stagingKey,
    file.mediaType,
    body.maxContentLength,
    ADDRESS_LIFETIME_SECONDS,
    askedAs,
  )
  await services.store.presignFile(file, plan?.storage_bytes ?? null)
  return {
    objectKey: file.objectKey,
    uploadUrl: url,
    httpMethod: 'PUT',
    requiredHeaders: headers,
    expiresInSeconds: ADDRESS_LIFETIME_SECONDS,
  }
}

function createFinalize(services: ServerServices): (workspaceId: WorkspaceId, given: unknown) => Promise<Finalized> {
  const running = new Map<string, Promise<Finalized>>()
  return async (workspaceId, given) => {
    const { objectKey, maxContentLength } = parseFinalize(given)
    // One at a time per object: the second of two concurrent moves would find nothing.
    const before = running.get(objectKey)
    const work = (async () => {
      await before?.catch(() => {})
      const file = await services.store.fileByKey(workspaceId, objectKey)
      if (!file) throw fail('not_found', { what: 'object' })
      return registerUpload(services, await openBlobs(services), file, maxContentLength)
    })()
    running.set(objectKey, work)
    try {
      return await work
    } finally {
      if (running.get(objectKey) === work) running.delete(objectKey)
    }
  }
}

/** Moves what arrived out of reach of any upload address. */
export async function registerUpload(
  { store, clock }: ServerServices,
  blobs: Blobs,
  file: StoredFile,
  maxContentLength: number,
  act?: NewAct,
): Promise<Finalized> {
  const common = { objectKey: file.objectKey, filename: file.filename, mediaType: file.mediaType }
  if (file.finalizedAt !== null) return { ...common, sizeBytes: file.sizeBytes ?? 0, alreadyFinalized: true }
  // After a crash between move and row, the object is already at its final key.
  if (await blobs.head(file.stagingKey)) await blobs.move(file.stagingKey, file.objectKey)
  dieAtFailpoint('finalize.afterMove')
  // Measured where no upload address reaches it: the client may have sent other bytes meanwhile.
  const moved = await blobs.head(file.objectKey)
  if (!moved) throw fail('not_uploaded')
  const { sizeBytes } = moved
  const limit = Math.min(file.maxBytes, maxContentLength)
  if (sizeBytes > limit) {
    await blobs.delete(file.objectKey)
    throw fail('size_mismatch', { size: sizeBytes, limit })
  }
  await (act ? store.recording(act) : store).finalizeFile(file.id, sizeBytes, clock.now())
  return { ...common, sizeBytes, alreadyFinalized: false }
}

const withUploads = (
  services: ServerServices,
  identify: IdentifyCaller,
  handle: (call: HttpRequestContext, caller: AuthenticatedCaller) => Promise<HttpReply>,
): RouteHandler =>
  withCaller(services, identify, (call, caller) => {
    const { principal } = caller
    if (principal.type === 'api_key' && !principal.allowUploads) throw fail('uploads_not_allowed')
    return handle(call, caller)
  })

/** Makes the client's file name safe in paths, headers and shells. Its extension stays, because tools go by it. */
function sanitise(filename: string): string {
  const leaf = filename.replace(/^.*[/\\]/s, '')
  const [, stem = leaf, extension = ''] = /^(.+)(\.[^.]*)$/s.exec(leaf) ?? []
  const safe = (text: string): string =>
    text
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
  const name = safe(stem).replace(/^[.-]+/, '')
  const whole = `${name.replaceAll(/[.-]/g, '') === '' ? 'file' : name}${safe(extension)}`
  return cutText(whole, 100, 'end').text
}
