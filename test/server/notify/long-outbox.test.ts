/** An outbox of any length costs no memory. Source: docs/design/notifications.md#delivery */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { silentLog } from '../../../src/base/log.ts'
import { createRedactor } from '../../../src/base/secret.ts'
import { nameBasedId } from '../../../src/base/ids.ts'
import { createNoticeDelivery } from '../../../src/server/notify/delivery.ts'
import type { NewNotice } from '../../../src/spec/notice.ts'
import { openSqlite } from '../../../src/store/sqlite/open.ts'
import { cases } from '../../cases.ts'
import { NOW, WORKSPACE } from '../../store/makers.ts'
import { closing } from '../running.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const LENGTH = cases(100_000)
const AT_ONCE = 50
/** The rows alone would be six times as much. */
const MOST_MB = 10

const heapMb = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1024 / 1024
}

test(
  `${LENGTH} notices that wait are delivered with the memory of those that are under way`,
  { timeout: 300_000 },
  async () => {
    // Rows of SQLite in memory are outside of the heap that is measured.
    const store = openSqlite(':memory:', { clock: { now: () => NOW, monotonic: () => performance.now() } })
    closing(() => store.close())
    for (let from = 0; from < LENGTH; from += 1000)
      await store.addNotices(
        Array.from({ length: Math.min(1000, LENGTH - from) }, (_, at): NewNotice => ({
          id: nameBasedId('notice', String(from + at)),
          workspaceId: WORKSPACE,
          channel: 'hook',
          event: 'run.failed',
          at: NOW,
          dueAt: NOW,
          data: { name: 'x'.repeat(2000) },
          sessionId: null,
          runId: null,
          taskId: null,
          whilePending: false,
        })),
      )
    const before = heapMb()
    let [sent, most] = [0, 0]
    const delivery = createNoticeDelivery({
      store,
      workspaceId: WORKSPACE,
      channels: [
        {
          name: 'hook',
          config: { concurrency: 2 },
          timeoutMs: 10_000,
          channel: {
            mostAtOnce: AT_ONCE,
            send: async (messages) => {
              if (sent % 5000 === 0) most = Math.max(most, heapMb() - before)
              sent += messages.length
              return { at: 'delivered' }
            },
          },
        },
      ],
      log: silentLog,
      random: () => 0.5,
      redactor: createRedactor(),
      consoleUrl: () => null,
    })
    await delivery.deliverDue()
    await delivery.close()
    expect(sent).toBe(LENGTH)
    expect(most).toBeLessThan(MOST_MB)
  },
)
