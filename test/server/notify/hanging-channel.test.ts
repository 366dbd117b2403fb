/** A channel that hangs costs nobody time. Source: docs/design/notifications.md#delivery */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Conversation } from '../../../src/spec/api.ts'
import { running, taskOf } from '../running.ts'
import { startReceiver } from './receiver.ts'

test('a channel that hangs holds no run, no save and no other channel back', async () => {
  const key = `whsec_${randomBytes(32).toString('base64')}`
  const hanging = await startReceiver(() => {})
  const well = await startReceiver()
  const webhook = (url: string) => ({ webhook: { url, secrets: [{ fromEnv: 'HOOK_KEY' }] } })
  const house = await running({
    config: {
      notify: {
        channels: {
          // One try, which lasts longer than this test.
          hangs: { ...webhook(hanging.url), timeout: '60s', concurrency: 1 },
          well: webhook(well.url),
        },
        routes: [{ events: ['task.created', 'task.decided'], to: ['hangs', 'well'] }],
      },
    },
    env: { HOOK_KEY: key },
  })
  for (let run = 1; run <= 5; run++) {
    const { runId } = (await house.start({ order: 'A-1042', amount: 180 })).body as { runId: string }
    const cursor = await house.until(runId, 'engine.session.paused')
    const userTaskId = taskOf(await house.get<Conversation>(`/v1/runs/${runId}/conversation`))
    await house.post(`/v1/runs/${runId}/messages`, { userTaskId, approved: true, runId })
    await house.until(runId, 'engine.session.completed', cursor)
    await well.until(() => well.received.length === 2 * run)
  }
  expect([hanging.received.length, well.received.length]).toEqual([1, 10])
})
