/**
 * Retention and the removal of abandoned uploads as servers really do them: by the background job at their start, on SQLite by one
 * server, on PostgreSQL by two of which one does it. Source: docs/design/several-processes.md#retention-and-erasure
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, describe, expect, test, vi } from 'vitest'
import type { Clock } from '../../src/base/clock.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import { workspaceIdOf } from '../../src/base/ids.ts'
import { createS3Blobs } from '../../src/blobs/s3.ts'
import { openLocalStorage } from '../../src/blobs/local/serve.ts'
import { openServer, type ServerOptions } from '../../src/server/open.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { ask, caller, closing, desk, directory, options, publishDesk } from './running.ts'
import { removeDirectory } from '../remove-directory.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

const DAYS_MS = 31 * 24 * 3_600_000

async function makeOlder(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  await client.query(
    `update svc.session set started_at = started_at - ${DAYS_MS}, finished_at = finished_at - ${DAYS_MS};
     update svc.file set created_at = created_at - ${DAYS_MS}, expires_at = expires_at - ${DAYS_MS}`,
  )
  await client.end()
}

/** A bucket on disk, and a look into it. */
async function openBucket() {
  const path = mkdtempSync(join(tmpdir(), 'svc-bucket-'))
  closing(() => removeDirectory(path))
  process.env['AWS_ACCESS_KEY_ID'] ??= 'key'
  process.env['AWS_SECRET_ACCESS_KEY'] ??= 'secret'
  const [accessKeyId, secretAccessKey] = [process.env['AWS_ACCESS_KEY_ID'], process.env['AWS_SECRET_ACCESS_KEY']]
  const credentials = { accessKeyId, secretAccessKey }
  const storage = await openLocalStorage({
    directory: path,
    host: '127.0.0.1',
    port: 0,
    credentials,
  })
  closing(() => storage.close(0))
  const { endpoint, region } = storage
  const blobs = createS3Blobs({ endpoint, region, bucket: 'svc', credentials, forcePathStyle: true })
  closing(() => blobs.close())
  return { url: `s3://svc?endpoint=${endpoint}`, has: async (key: string) => (await blobs.head(key)) !== undefined }
}

const PLACES = ['one server on SQLite', ...(postgres ? ['two servers on PostgreSQL'] : [])]

describe.each(PLACES)('%s', (place) => {
  const isShared = place !== PLACES[0]

  test('what ended long ago is removed once, with abandoned uploads; what is held or waits stays', async () => {
    const bucket = await openBucket()
    const lines: (readonly [string, Record<string, JsonValue | undefined>])[] = []
    const base: ServerOptions = {
      ...options(),
      log: { write: (_, message, values = {}) => void lines.push([message, values]) },
    }
    if (isShared) await migrateDatabase(postgres!.url('retention'))
    const opened = {
      ...base,
      ...(isShared ? { store: postgres!.url('retention') } : { dataDirectory: directory() }),
      config: { ...base.config, storage: { url: bucket.url }, retention: { runs: '30d', audit: '10y' } },
    }

    const first = await openServer(opened)
    const made = await publishDesk(first.operator, { allowUploads: true }, desk)
    const { post, until } = caller(first.url, made.secret)
    const runs: { sessionId: string; runId: string }[] = []
    for (const order of ['A-1', 'A-2', 'A-3', 'A-4']) {
      const { body } = await post<{ runId: string; sessionId: string }>(`/v1/agents/${made.agentId}/runs`, {
        input: { order, amount: 180 },
      })
      await until(body.runId, 'engine.session.paused')
      runs.push(body)
    }
    const [old, older, held, waiting] = runs.map(({ sessionId }) => sessionId)
    for (const { runId } of runs.slice(0, 3)) await ask(first.operator, `POST /runs/${runId}/cancel`, {})
    await ask(first.operator, `PATCH /sessions/${held}`, { legalHold: true })
    const upload = async (filename: string): Promise<string> => {
      const { body } = await post<{ objectKey: string; uploadUrl: string; requiredHeaders: Record<string, string> }>(
        '/v1/file-library/presign',
        { filename, mediaType: 'text/plain', maxContentLength: 9 },
      )
      const put = await fetch(body.uploadUrl, { method: 'PUT', headers: body.requiredHeaders, body: 'paid' })
      expect(put.status).toBe(200)
      return body.objectKey
    }
    const kept = await upload('kept.txt')
    await post('/v1/file-library/finalize', { objectKey: kept, maxContentLength: 9 })
    const left = (await first.store.fileByKey(workspaceIdOf('acme'), await upload('left.txt')))!.stagingKey
    expect(await Promise.all([kept, left].map(bucket.has))).toEqual([true, true])
    await first.close(0)

    // A server whose clock differs from that of its database takes no work: there, what it finds is made older.
    if (isShared) await makeOlder(opened.store!)
    const clock: Clock = { now: () => Date.now() + (isShared ? 0 : DAYS_MS), monotonic: () => performance.now() }
    const servers = []
    for (let n = 0; n < (isShared ? 2 : 1); n++) servers.push(await openServer({ ...opened, clock }))
    for (const each of servers) closing(() => each.close(0))
    const last = servers.at(-1)!
    const isThere = async (sessionId: string | undefined): Promise<boolean> =>
      (await last.store.session(sessionId as never)) !== undefined

    await vi.waitFor(
      async () => {
        expect(await Promise.all([old, older].map(isThere))).toEqual([false, false])
        expect(await bucket.has(left)).toBe(false)
      },
      { timeout: 50_000, interval: 50 },
    )
    expect(await Promise.all([held, waiting].map(isThere))).toEqual([true, true])
    expect(await bucket.has(kept)).toBe(true)
    expect(lines.filter(([message]) => message.startsWith('retention'))).toEqual([
      ['retention deleted sessions', { sessions: 2, olderThan: '30d' }],
    ])
    expect(lines.filter(([message]) => message === 'a background job failed')).toEqual([])

    // Without the hold it goes with the next look, which is that of the next server.
    await ask(last.operator, `PATCH /sessions/${held}`, { legalHold: false })
    for (const each of servers) await each.close(0)
    const again = await openServer({ ...opened, clock })
    closing(() => again.close(0))
    await vi.waitFor(async () => expect(await again.store.session(held as never)).toBeUndefined(), {
      timeout: 50_000,
      interval: 50,
    })
  })
})
