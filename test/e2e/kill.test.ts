import { setTimeout as after } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { svcJson } from './binary.ts'
import { customer, ENDED, openCourier, type Courier } from './courier.ts'

/** Kills at moments that a seed chooses, so that a history can be played again. */
const SEED = Number(process.env['SVC_KILL_SEED'] ?? 20_261_121)
const KILLS = Number(process.env['SVC_KILLS'] ?? 8)
/** A server lives at most so long; a run takes about a third of it. */
const LONGEST_LIFE_MS = 700
const RUNS_A_LIFE = 2

let courier: Courier | undefined
afterAll(() => courier?.close())

test(
  `after kill -9 at ${KILLS} random moments every accepted run ends and nothing unsafe happened twice`,
  { timeout: 120_000 + KILLS * 5000 },
  async () => {
    const random = seeded(SEED)
    courier = await openCourier({ callMs: () => random() * 30 })
    const { access, project, arrivals } = courier
    const at = ['--data', project.data]
    const { triggerId } = await svcJson<{ triggerId: string }>(
      ['triggers', 'create', 'acme.courier', '--type', 'schedule', '--cron', '* * * * * *', ...at],
      { cwd: project.directory },
    )
    const accepted: string[] = []

    for (let kill = 0; kill < KILLS; kill++) {
      const server = await courier.serve()
      const over = new AbortController()
      const api = customer(server, access, over.signal)
      const starts = async (): Promise<void> => {
        for (let run = 0; run < RUNS_A_LIFE; run++) accepted.push(await api.start())
      }
      const helps = async (): Promise<void> => {
        while (!over.signal.aborted) {
          // What was accepted long ago waits for an operator, if at all.
          for (const runId of accepted.slice(-4 * RUNS_A_LIFE)) await api.help(runId)
          await after(20)
        }
      }
      const work = Promise.allSettled([starts(), helps()])
      await after(random() * LONGEST_LIFE_MS)
      await server.stop('SIGKILL')
      over.abort()
      // A connection that broke is what a kill does; an answer that was wrong is not.
      for (const each of await work) if (each.status === 'rejected' && !isBroken(each.reason)) throw each.reason
    }
    expect(accepted.length).toBeGreaterThan(KILLS / 2)

    const server = await courier.serve()
    const api = customer(server, access)
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

const isBroken = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || ['fetch failed', 'terminated'].includes(error.message))

/** A small generator with a seed (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
