import { setTimeout as after } from 'node:timers/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { cases } from '../cases.ts'
import { svcJson } from './binary.ts'
import { openCourier, type Courier } from './courier.ts'
import { customer, ENDED } from './customer.ts'
import { waitUntil } from '../wait-until.ts'
import { isBroken, seeded } from './seeded.ts'

/** Kills at moments that a seed chooses, so that a history can be played again. */
const SEED = Number(process.env['SVC_KILL_SEED'] ?? 20_261_121)
const KILLS = Number(process.env['SVC_KILLS'] ?? Math.max(3, cases(8)))
/** A server lives at most so long; a run takes about a third of it. */
const LONGEST_LIFE_MS = 700
const RUNS_A_LIFE = 2

let courier: Courier | undefined
afterEach(() => courier?.close())

test(
  `after kill -9 at ${KILLS} random moments every accepted run ends and nothing unsafe happened twice`,
  { timeout: 120_000 + KILLS * 5000 },
  async () => {
    const random = seeded(SEED)
    courier = await openCourier({ callMs: () => random() * 30, timeout: '10s' })
    const { access, project, arrivals } = courier
    const at = ['--data', project.data]
    const { triggerId } = await svcJson<{ triggerId: string }>(
      ['triggers', 'create', 'acme.courier', '--type', 'schedule', '--cron', '* * * * * *', ...at],
      { cwd: project.directory },
    )
    const accepted: string[] = []
    /** Messages to working runs: those that a server took, and all that were sent. */
    const steered = { taken: new Set<string>(), sent: new Set<string>() }

    for (let kill = 0; kill < KILLS; kill++) {
      const server = await courier.serve()
      const over = new AbortController()
      const api = customer(server, access, over.signal)
      const starts = async (): Promise<void> => {
        // The first life lasts until a message was taken.
        const isEnough = (run: number): boolean => run >= RUNS_A_LIFE && (kill > 0 || steered.taken.size > 0)
        for (let run = 0; !isEnough(run); run++) accepted.push(await api.start())
      }
      const helps = async (): Promise<void> => {
        while (!over.signal.aborted) {
          // What was accepted long ago waits for an operator, if at all.
          for (const runId of accepted.slice(-4 * RUNS_A_LIFE)) await api.help(runId)
          await after(20)
        }
      }
      const steers = async (): Promise<void> => {
        while (!over.signal.aborted) {
          await after(random() * 60)
          const runId = accepted.at(-1)
          if (runId === undefined) continue
          const text = `message ${steered.sent.size}`
          steered.sent.add(text)
          const steer = random() < 0.3 ? 'interrupt' : true
          const { status, body } = await api.send(runId, { text, steer })
          if (status === 202 && !('error' in (body as object))) steered.taken.add(text)
        }
      }
      const work = Promise.allSettled([starts(), helps(), steers()])
      if (kill === 0) await waitUntil(() => accepted.length >= RUNS_A_LIFE && steered.taken.size > 0)
      await after(random() * LONGEST_LIFE_MS)
      await server.stop('SIGKILL')
      over.abort()
      // A connection that broke is what a kill does; an answer that was wrong is not.
      for (const each of await work) if (each.status === 'rejected' && !isBroken(each.reason)) throw each.reason
    }
    expect(accepted.length).toBeGreaterThan(KILLS / 2)

    const server = await courier.serveHere()
    const api = customer(server, access)
    while (!(await api.sessions()).some(({ triggerType }) => triggerType === 'scheduled')) await after(50)
    await svcJson(['triggers', 'update', triggerId, '--no-active', ...at], { cwd: project.directory })
    for (;;) {
      const open = (await api.sessions()).filter(({ status }) => !ENDED.has(status))
      if (open.length === 0) break
      for (const { triggerType, rootRunId } of open) if (triggerType === 'api') await api.help(rootRunId!)
      await courier.review()
      await after(50)
    }

    // Each accepted run was kept. So were starts whose answer was lost with its server, and those of the schedule.
    const sessions = await api.sessions()
    const outputs = new Map(sessions.map(({ rootRunId, output }) => [rootRunId, output]))
    expect(accepted.filter((runId) => outputs.get(runId) !== 'Delivered to Oslo.')).toEqual([])
    expect(sessions.filter(({ status }) => status !== 'Completed')).toEqual([])
    const scheduled = sessions.filter(({ triggerType }) => triggerType === 'scheduled')
    expect(scheduled.length).toBeGreaterThan(0)

    // A message that was taken is in the timeline once, also if its server died then; no other is there twice.
    expect(steered.taken.size).toBeGreaterThan(0)
    const texts: string[] = []
    for (const runId of accepted) texts.push(...(await api.messages(runId)))
    const told = texts.filter((text) => steered.sent.has(text))
    expect(told.toSorted()).toEqual([...new Set(told)].toSorted())
    expect([...steered.taken].filter((text) => !told.includes(text))).toEqual([])

    // Each did every unsafe thing once, and none of them was called a second time.
    const calls = (tool: string) => arrivals.filter((each) => each.tool === tool).map(({ key }) => key)
    const whole = sessions.length - scheduled.length
    for (const [tool, times] of [
      ['acme.post', sessions.length],
      ['acme.pay', whole],
      ['acme.stamp', whole],
    ] as const)
      expect([tool, calls(tool).length, new Set(calls(tool)).size]).toEqual([tool, times, times])
    // A safe call may come again, with its key.
    for (const tool of ['acme.look', 'acme.put'])
      expect([tool, new Set(calls(tool)).size]).toEqual([tool, sessions.length])

    for (const runId of accepted) {
      const numbers = await api.eventNumbers(runId)
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    }
    expect(await server.stop('SIGTERM')).toBe(0)
  },
)

/** Backups at moments that the seed chooses. */
const BACKUPS = Number(process.env['SVC_BACKUPS'] ?? cases(2))

test(
  `after ${BACKUPS} times backing up, going on to the end, restoring and releasing, nothing unsafe happened twice without a person`,
  { timeout: 120_000 + BACKUPS * 30_000 },
  async () => {
    const random = seeded(SEED + 1)
    // Calls take a while, so that some are under way in the backup.
    courier = await openCourier({ callMs: () => 600 + random() * 900, timeout: '10s' })
    const { access, project, arrivals, review } = courier
    const at = ['--data', project.data]
    const accepted: string[] = []
    let unfinished = 0
    let reviewed = 0

    for (let round = 0; round < BACKUPS; round++) {
      const archive = join(project.directory, `round${round}.tgz`)
      const first = await courier.serveHere()
      const before = customer(first, access)
      for (let run = 0; run < RUNS_A_LIFE; run++) accepted.push(await before.start())
      // What was not sent before the backup is sent after the release: that is what `restore --plan` lists.
      const made = (tool: string) => new Set(arrivals.filter((each) => each.tool === tool).map(({ key }) => key)).size
      while (made('acme.post') < accepted.length || made('acme.stamp') < accepted.length) {
        // After a restore the first call of each tool asks, also in a new run.
        if (round > 0) for (const runId of accepted) await before.help(runId)
        await after(10)
      }
      await svcJson(['backup', archive, ...at], { cwd: project.directory })
      // The runs go on to their ends, with everything that they do outside; the restore forgets that they did.
      await endOf(before, accepted, review)
      expect(await first.stop('SIGTERM')).toBe(0)
      await svcJson(['restore', archive, '--force', '--yes', ...at], { cwd: project.directory })

      const second = await courier.serveHere()
      const then = customer(second, access)
      const open = []
      for (const runId of accepted) {
        const { status, hold } = await then.run(runId)
        if (!ENDED.has(status)) open.push([runId, hold?.reason])
      }
      expect(open.map(([, reason]) => reason)).toEqual(open.map(() => 'restored'))
      unfinished += open.length
      const quiet = arrivals.length
      await after(500)
      expect(arrivals.length).toBe(quiet)
      await svcJson(['restore', '--resume', '--yes', ...at], { cwd: project.directory })
      const { items } = await svcJson<{ items: unknown[] }>(['inbox', '--operator', ...at], { cwd: project.directory })
      reviewed += items.length
      await endOf(then, accepted, review)
      for (const runId of accepted) expect(await then.run(runId)).toMatchObject({ status: 'Completed' })
      expect(await second.stop('SIGTERM')).toBe(0)
    }
    expect(unfinished).toBeGreaterThan(0)

    // The ledger of the world: a call under way in the backup was put before a person, who looked it up. `acme.pay` came
    // later, and only because the customer approved it a second time.
    for (const tool of ['acme.post', 'acme.stamp']) {
      const keys = arrivals.filter((each) => each.tool === tool).map(({ key }) => key)
      expect([tool, keys.length, new Set(keys).size]).toEqual([tool, accepted.length, accepted.length])
    }
    expect(reviewed).toBeGreaterThan(0)
  },
)

/** Until every run has ended, with the help of the customer and of an operator. */
async function endOf(
  api: ReturnType<typeof customer>,
  runs: readonly string[],
  review: () => Promise<void>,
): Promise<void> {
  for (;;) {
    let open = 0
    for (const runId of runs) if (!ENDED.has((await api.help(runId)).status)) open++
    if (open === 0) return
    await review()
    await after(50)
  }
}

test(
  'what an operator stops stays stopped over kill -9, and goes on after it, once',
  { timeout: 120_000 },
  async () => {
    const random = seeded(SEED + 2)
    courier = await openCourier({ callMs: () => 20 + random() * 30, timeout: '10s' })
    const { access, project, arrivals } = courier
    const at = ['--data', project.data]
    const stop = (...more: string[]) =>
      svcJson<{ changed: boolean }>(['stop', '--all', ...more, ...at], { cwd: project.directory })
    const accepted: string[] = []
    for (let round = 0; round < cases(3); round++) {
      const server = await courier.serve()
      const api = customer(server, access)
      for (let run = 0; run < RUNS_A_LIFE; run++) accepted.push(await api.start())
      await after(random() * LONGEST_LIFE_MS)
      expect((await stop('--reason', 'what is this?')).changed).toBe(true)
      // Calls that were under way arrive; no other leaves.
      await after(200)
      const seen = arrivals.length
      await server.stop('SIGKILL')
      const next = await courier.serve()
      await after(1000)
      expect(arrivals.length).toBe(seen)
      expect((await stop()).changed).toBe(false)
      expect((await stop('--resume')).changed).toBe(true)
      await next.stop('SIGKILL')
    }
    const server = await courier.serveHere()
    const api = customer(server, access)
    for (;;) {
      const open = (await api.sessions()).filter(({ status }) => !ENDED.has(status))
      if (open.length === 0) break
      for (const { rootRunId } of open) await api.help(rootRunId!)
      await courier.review()
      await after(50)
    }
    expect((await api.sessions()).map(({ status }) => status)).toEqual(accepted.map(() => 'Completed'))
    for (const tool of ['acme.post', 'acme.pay', 'acme.stamp']) {
      const keys = arrivals.filter((each) => each.tool === tool).map(({ key }) => key)
      expect([tool, keys.length, new Set(keys).size]).toEqual([tool, accepted.length, accepted.length])
    }
    expect(await server.stop('SIGTERM')).toBe(0)
  },
)
