/** A server on a directory that was restored: triggers are quiet until somebody releases them. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { holdRestoredWork } from '../../src/store/sqlite/sessions/hold-restored.ts'
import { openServer } from '../../src/server/open.ts'
import type { RestoredView } from '../../src/operations/server.ts'
import { ask, closing, DESK, directory, options, publishDesk } from './running.ts'

test('a trigger that was restored takes no starts, and every start once it is released', async () => {
  const first = directory()
  const second = directory()
  mkdirSync(dirname(second), { recursive: true })
  mkdirSync(second, { mode: 0o700 })
  const source = await openServer(options(first))
  const { agentId, secret } = await publishDesk(source.operator)
  await source.store.backup(join(second, 'data.db'))
  await source.close()
  expect(holdRestoredWork(join(second, 'data.db'), Date.now(), Date.now())).toEqual({ runs: 0, triggers: 1 })

  const server = await openServer(options(second))
  closing(() => server.close())
  const start = async (): Promise<{ status: number; code?: string }> => {
    const response = await fetch(`${server.url}/v1/agents/${agentId}/runs`, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body: JSON.stringify({ input: { order: 'A-1', amount: 1 } }),
    })
    const { code } = (await response.json()) as { code?: string }
    return { status: response.status, ...(code !== undefined && { code }) }
  }
  expect(await start()).toEqual({ status: 503, code: 'trigger_held' })
  const { triggers }: RestoredView = await ask(server.operator, 'GET /restored')
  expect(triggers).toMatchObject([{ agent: DESK, type: 'api', name: 'api', nextAt: null }])
  const body = { trigger: triggers[0]!.triggerId }
  expect(await ask(server.operator, 'POST /restored/release', body)).toEqual({
    runs: 0,
    triggers: 1,
    asksUntil: null,
    known: 0,
  })
  expect(await start()).toEqual({ status: 202 })
  const times = { at: expect.any(String) as string, backedUpAt: expect.any(String) as string }
  expect(await ask(server.operator, 'GET /restored')).toEqual({
    restore: { ...times, releasedAt: null, asksUntil: null },
    runs: [],
    triggers: [],
  })
  const release = (body: object): Promise<{ asksUntil: string; known: number }> =>
    ask(server.operator, 'POST /restored/release', body)
  const daysLeft = ({ asksUntil }: { asksUntil: string }): number =>
    Math.round((Date.parse(asksUntil) - Date.now()) / 86_400_000)
  const happened = ['refund:A-1', 'refund:A-2', 'refund:A-1']
  const released = await release({ happened })
  expect([daysLeft(released), released.known]).toEqual([7, 2])
  const effects: { items: { key: string; agent: string; outcome: string }[] } = await ask(
    server.operator,
    'GET /effects',
  )
  expect(effects.items.map(({ key, agent }) => `${key} ${agent}`).sort()).toEqual([
    'refund:A-1 outside',
    'refund:A-2 outside',
  ])
  // A release that says nothing of it keeps what an earlier one said.
  expect(daysLeft(await release({ asksForSeconds: 30 * 86_400 }))).toBe(30)
  expect(daysLeft(await release({}))).toBe(30)
  expect(Math.abs(daysLeft(await release({ asksForSeconds: 0 })))).toBe(0)
})
