/** Operators at two servers on one PostgreSQL: what one of them does at one shows at the other. */
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { afterAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import type { ActRecord } from '../../src/spec/people/act.ts'
import type { ChainedRow } from '../../src/spec/chain/session-link.ts'
import { createSetupVerifier } from '../../src/spec/chain/setup-row.ts'
import { openServer } from '../../src/server/open.ts'
import type { InboxItem } from '../../src/operations/tasks.ts'
import type { LiveHint } from '../../src/operations/server.ts'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { signedIn } from '../console/browser-session.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { snapshotOf } from './fixtures.ts'
import { ask, closing, DESK, desk, directory, running } from './running.ts'

const postgres = startPostgres()
afterAll(() => postgres?.stop())

/** A credential that was revoked elsewhere is looked for every 3 s, by a server that has a share of a busy machine. */
const ENDS_WITHIN_MS = 15_000

describe.skipIf(!postgres)('operators at two servers', () => {
  let databases = 0
  /** The second has the console. The run waits for an approval. */
  async function two() {
    const store = postgres!.url(`operators_${++databases}`)
    await migrateDatabase(store)
    const first = await running({ store })
    const second = await openServer({ ...first.opened, dataDirectory: directory(), console: { port: 0 } })
    closing(() => second.close())
    const { body } = await first.start({ order: 'A-1', amount: 180 })
    await first.until(body['runId']!, 'engine.user_task.created')
    const newKey = (email: string) =>
      ask<{ secret: string; keyId: string }>(first.server.operator, 'POST /operator-keys', { email })
    return { first, second, runId: body['runId']!, newKey }
  }

  test('a credential that is revoked at one right after its streams opened at the other ends them', async () => {
    const { first, second, runId, newKey } = await two()
    const key = await newKey('ben@acme.example')
    const ben = await signedIn(second, key.secret)
    const streams = await Promise.all(
      [{ 'x-operator-key': key.secret }, { cookie: ben.cookie, 'x-svc-page-key': ben.pageKey }].flatMap((headers) =>
        ['/live', '/logs?follow=true', `/v1/runs/${runId}/stream`].map((path) =>
          fetch(second.consoleUrl! + path, { headers }),
        ),
      ),
    )
    expect(streams.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200))
    await ask(first.server.operator, `POST /keys/${key.keyId}/revoke`, {})
    const from = performance.now()
    await Promise.all(streams.map((response) => response.text()))
    expect(performance.now() - from).toBeLessThan(ENDS_WITHIN_MS)
  })

  test('what both change in the same moment is as the last act of it says', async () => {
    const { first, second, newKey } = await two()
    const { digest: _, id: __, version: ___, ...content } = desk
    const next = snapshotOf(DESK, '1.1.0', content)
    const publish = { bundle: { root: DESK, agents: [next], documents: [], closureDigest: digestOf(next.digest) } }
    const keys = [await newKey('ben@acme.example'), await newKey('ben@acme.example')]
    const both = (line: string, ...bodies: readonly object[]) =>
      [first.server, second].flatMap(({ operator }) => bodies.map((body) => ask(operator, line, body)))
    const pause = { kind: 'agent', name: DESK }
    await Promise.allSettled([
      ...both('POST /publish', publish),
      ...both('POST /yank', ...[true, false].map((yanked) => ({ kind: 'Agent', id: DESK, version: '1.0.0', yanked }))),
      ...both('POST /pauses', { ...pause, paused: true }, { ...pause, paused: false }),
      ...both(`POST /keys/${first.keyId}/revoke`, {}, {}),
      ...keys.flatMap(({ secret }) => [signedIn(second, secret), signedIn(second, secret)]),
    ])
    const ends = [undefined, '2099-01-01T00:00:00Z', null]
    await Promise.all(
      ends.flatMap((expiresAt) =>
        both(
          'POST /deploy',
          ...['1.0.0', '1.1.0'].map((version) => ({ agent: DESK, version, allowYanked: true, expiresAt })),
        ),
      ),
    )
    const read = async <T>(path: string) => (await ask<{ items: T[] }>(second.operator, `GET ${path}?take=500`)).items
    const verifier = createSetupVerifier()
    for (const act of await read<ActRecord>('/acts/records')) verifier.add(act)
    const rows = await read<ChainedRow>('/audit/setup')
    expect([verifier.check(rows), verifier.checked]).toEqual([undefined, rows.length])
    const deployments = rows.find(({ name }) => name.startsWith('deployments'))!
    expect(verifier.actsOf(deployments.name)).toHaveLength(deployments.lines.length)
  })

  test('a claim at one is told at the other, where it shows until it is left', async () => {
    const { first, second, newKey } = await two()
    const key = await newKey('ben@acme.example')
    const ben = await signedIn(second, key.secret)
    const lookingAt = async () => {
      const { items } = (await ben.send('GET /tasks')).body as { items: InboxItem[] }
      return items.map(({ people }) => people?.looking)
    }
    const live = await fetch(`${second.consoleUrl}/live`, { headers: { cookie: ben.cookie } })
    const hints = live.body!.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
    const reader = hints.getReader()
    const nextHint = async () => JSON.parse((await reader.read()).value!.data) as LiveHint
    await nextHint()
    expect(await lookingAt()).toEqual([undefined])
    const [item] = (await ask<{ items: InboxItem[] }>(first.server.operator, 'GET /tasks')).items
    await ask(first.server.operator, `POST /tasks/${item!.userTaskId}/claim`, {})
    expect(await nextHint()).toEqual({ sessions: [item!.sessionId], workspace: false })
    expect(await lookingAt()).toEqual([[{ by: 'operator ana@acme.example', isYou: false }]])
    await ask(first.server.operator, `POST /tasks/${item!.userTaskId}/claim`, { leave: true })
    expect(await nextHint()).toEqual({ sessions: [item!.sessionId], workspace: false })
    expect(await lookingAt()).toEqual([undefined])
    await reader.cancel()
  })
})
