import { setTimeout as after } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import { cases } from '../cases.ts'
import { svc } from './binary.ts'
import { openBranchOffice, type BranchOffice } from './branch-office.ts'
import { customer, ENDED } from './customer.ts'
import { waitUntil } from '../wait-until.ts'
import { isBroken, seeded } from './seeded.ts'

/** Kills at moments that a seed chooses, so that a history can be played again. */
const SEED = Number(process.env['SVC_KILL_SEED'] ?? 20_261_123)
const KILLS = Number(process.env['SVC_KILLS'] ?? Math.max(3, cases(8)))
const LONGEST_LIFE_MS = 700

let office: BranchOffice | undefined
afterEach(() => office?.close())

test(
  `after kill -9 at ${KILLS} random moments each order was paid once, although two agents were asked for it and runs were cancelled and resumed`,
  { timeout: 120_000 + KILLS * 15_000 },
  async () => {
    const random = seeded(SEED)
    office = await openBranchOffice(() => random() * 60)
    const { agents, payments, review } = office
    const accepted: { readonly runId: string; readonly at: number }[] = []
    const { directory, data } = office.project
    const steer = (...args: string[]) => svc(['runs', ...args, '--data', data], { cwd: directory })
    const resumed = new Set<string>()

    for (let kill = 0; kill < KILLS; kill++) {
      const server = await office.serve()
      const over = new AbortController()
      const desks = agents.map((access) => customer(server, access, over.signal))
      const helpAll = async (): Promise<void> => {
        while (!over.signal.aborted) {
          for (const { runId, at } of accepted.slice(-6)) await desks[at]!.help(runId, isFirst)
          await after(20)
        }
      }
      const starts = desks.map(async (desk, at) => {
        for (const order of [`A-${kill}`, `B-${kill}`])
          accepted.push({ runId: await desk.start(undefined, { order }), at })
      })
      const work = Promise.allSettled([...starts, helpAll()])
      // The first lives until both agents have orders.
      if (kill === 0) await waitUntil(() => accepted.length >= 3)
      await after(random() * LONGEST_LIFE_MS)
      await server.stop('SIGKILL')
      over.abort()
      for (const each of await work) if (each.status === 'rejected' && !isBroken(each.reason)) throw each.reason
      // What was under way at the kill is cancelled, and goes on: no payment is made again for it.
      const latest = accepted.slice(-3)
      const first = Math.floor(random() * latest.length)
      for (const { runId: victim } of [...latest.slice(first), ...latest.slice(0, first)]) {
        await steer('cancel', victim)
        const { code, stderr } = await steer('resume', victim, '--reason', 'after the kill')
        // A run that had completed before has nothing to resume.
        expect(code === 0 ? '' : stderr).toMatch(/^$|run_completed/)
        if (code !== 0) continue
        resumed.add(victim)
        break
      }
    }
    expect(accepted.length).toBeGreaterThan(KILLS / 2)
    expect(resumed.size).toBeGreaterThan(0)

    const server = await office.serveHere()
    const desks = agents.map((access) => customer(server, access))
    for (;;) {
      let open = 0
      for (const desk of desks)
        for (const { rootRunId, status } of await desk.sessions()) {
          if (ENDED.has(status)) continue
          open++
          await desk.help(rootRunId!, isFirst)
        }
      if (open === 0) break
      await review()
      await after(50)
    }

    // A start whose answer was lost with its server was kept as well.
    const sessions = (await Promise.all(desks.map((desk) => desk.sessions()))).flat()
    expect(sessions.filter(({ status }) => status !== 'Completed')).toEqual([])
    const ended = new Set(sessions.map(({ rootRunId }) => rootRunId))
    expect(accepted.filter(({ runId }) => !ended.has(runId as never))).toEqual([])

    const orders = new Set(payments.map(({ order }) => order))
    expect(sessions.length).toBeGreaterThan(orders.size)
    for (const order of orders) {
      const made = (tool: string) => payments.filter((each) => each.order === order && each.tool === tool)
      expect([order, made('acme.refund').length, made('acme.charge').length]).toEqual([order, 1, 1])
      // A safe call may come again, with its key.
      expect([order, new Set(made('acme.voucher').map(({ key }) => key)).size]).toEqual([order, 1])
    }
    expect(await server.stop('SIGTERM')).toBe(0)
  },
)

test('without effect keys both agents pay the order: the book shows it', async () => {
  office = await openBranchOffice(() => 0, false)
  const server = await office.serveHere()
  for (const access of office.agents) {
    const desk = customer(server, access)
    const runId = await desk.start(undefined, { order: 'A-1' })
    while (!ENDED.has((await desk.help(runId, isFirst)).status)) await after(20)
  }
  const tools = office.payments.map(({ tool }) => tool).sort()
  expect(tools).toEqual(['acme.charge', 'acme.charge', 'acme.refund', 'acme.refund', 'acme.voucher', 'acme.voucher'])
  await server.stop('SIGTERM')
})

/** A person who approves the first payment of an order and no second one. */
const isFirst = ({ effect }: { readonly effect?: { readonly previous?: unknown } }): boolean =>
  effect?.previous === undefined
