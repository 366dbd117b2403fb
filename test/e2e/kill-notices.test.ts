/** The real process dies at any moment while receivers are slow, down, answer 500 or close early: every task is told, once by its id. */
import { randomBytes } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { workspaceIdOf } from '../../src/base/ids.ts'
import { createTransport } from '../../src/base/net/transport.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { openChannel } from '../../src/server/notify/channels.ts'
import { createNoticeDelivery } from '../../src/server/notify/delivery.ts'
import { openSqlite } from '../../src/store/sqlite/open.ts'
import { isLong } from '../cases.ts'
import { waitUntil } from '../wait-until.ts'
import { copyProject, deploy, serve } from './binary.ts'
import { caller } from './caller.ts'
import { isBroken, seeded } from './seeded.ts'

const KILLS = Number(process.env['SVC_KILLS'] ?? (isLong ? 200 : 5))
const LONGEST_LIFE_MS = 600
const WORKSPACE = workspaceIdOf('clerk-test')
const HOUR = 3_600_000

test(
  `after kill -9 at ${KILLS} random moments the receiver has every task, each once by its id`,
  { timeout: 120_000 + KILLS * 5000 },
  async () => {
    const random = seeded(20_261_129)
    const key = `whsec_${randomBytes(32).toString('base64')}`
    const handled = new Map<string, { readonly taskId: string; times: number }>()
    let isWell = false
    const receiver = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('error', () => {})
      request.on('end', () => {
        const kind = isWell ? 0 : Math.floor(random() * 5)
        if (kind === 1) return void response.writeHead(500).end()
        if (kind === 2) return void response.destroy()
        const id = request.headers['webhook-id'] as string
        const body = Buffer.concat(chunks).toString('utf8')
        const { data } = new Webhook(key).verify(body, request.headers as Record<string, string>) as {
          data: { taskId: string }
        }
        const known = handled.get(id)
        if (known) known.times++
        else handled.set(id, { taskId: data.taskId, times: 1 })
        // Handled, and then: too slow, closed early, or well.
        if (kind === 3) return void setTimeout(() => response.destroy(), 2000).unref()
        if (kind === 4) return void response.destroy()
        response.writeHead(204).end()
      })
    })
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
    const project = copyProject('clerk')
    appendFileSync(
      join(project.directory, 'svc.config.yaml'),
      `
notify:
  channels:
    hook: { webhook: { url: "${url}", secrets: [{ fromEnv: HOOK_KEY }] }, timeout: 300ms }
  routes:
    - { events: [task.created], to: [hook] }
`,
    )
    try {
      const access = await deploy(project, 'acme.clerk')
      const accepted: string[] = []
      for (let kill = 0; kill < KILLS; kill++) {
        const env = { CLERK_LEDGER: join(project.directory, 'ledger'), HOOK_KEY: key }
        const server = await serve(['--data', project.data], { cwd: project.directory, env })
        const api = caller(server.url, access.secret)
        const before = accepted.length
        const starts = (async () => {
          for (;;) accepted.push(await api.start(access.agentId, { case: random() < 0.5 ? 'text' : 'pay' }))
        })().catch((error: unknown) => {
          if (!isBroken(error)) throw error
        })
        // However slow the machine is, something was accepted by the process that dies.
        await waitUntil(() => accepted.length > before)
        await after(random() * LONGEST_LIFE_MS)
        await server.stop('SIGKILL')
        await starts
      }
      // What is left is sent by one more process, whose clock goes over all pauses.
      isWell = true
      let ahead = 0
      const clock = { now: () => Date.now() + ahead, monotonic: () => performance.now() }
      const store = openSqlite(join(project.data, 'data.db'), { clock })
      const config = { webhook: { url, secrets: [{ fromEnv: 'HOOK_KEY' }] } }
      const redactor = createRedactor()
      const channel = openChannel(config, {
        name: 'hook',
        env: { HOOK_KEY: key },
        configDirectory: project.directory,
        fetch: createTransport({ keepAlive: false }),
        // The receiver checks the time of a delivery.
        clock: { ...clock, now: () => Date.now() },
        redactor,
        workspace: 'clerk-test',
        desk: {
          readTask: async () => undefined,
          decide: async () => undefined,
          noticesOf: async () => [],
          listPeople: async () => [],
          linkOf: () => undefined,
          createDecisionLink: async () => undefined,
        },
      })
      const delivery = createNoticeDelivery({
        store,
        workspaceId: WORKSPACE,
        channels: [{ name: 'hook', config, timeoutMs: 10_000, channel }],
        log: silentLog,
        random,
        redactor,
        consoleUrl: () => null,
      })
      for (; ahead <= 24 * HOUR; ahead += 12 * HOUR) await delivery.deliverDue()
      const told = new Set([...handled.values()].map(({ taskId }) => taskId))
      const { items } = await store.notices({ workspaceId: WORKSPACE }, { skip: 0, take: 100_000 })
      const tasks = await store.tasks({ workspaceId: WORKSPACE, all: true }, { skip: 0, take: 100_000 })
      expect(items.filter(({ state }) => state !== 'delivered')).toEqual([])
      expect(tasks.items.map(({ id }) => id).filter((id) => !told.has(id))).toEqual([])
      // No two notices speak of one task, and the receiver knows each by its id.
      expect([told.size, handled.size]).toEqual([tasks.items.length, tasks.items.length])
      expect(accepted.length).toBeGreaterThanOrEqual(KILLS)
      await delivery.close()
      await store.close()
    } finally {
      receiver.closeAllConnections()
      receiver.close()
      project.remove()
    }
  },
)
