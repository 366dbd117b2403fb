import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Conversation, RunStatusBody, SessionList, StartRunResponse, TaskContent } from '../../src/spec/api.ts'
import { type Access, copyExample, deploy, serve, type ServerProcess, svc } from './binary.ts'

/** Kills at moments that a seed chooses, so that a history can be played again. */
const SEED = Number(process.env['SVC_KILL_SEED'] ?? 20_261_121)
const KILLS = Number(process.env['SVC_KILLS'] ?? 20)
/** A server lives at most so long; a run of the example takes about a third of it. */
const LONGEST_LIFE_MS = 900

const project = copyExample('refund')
const ledgerFile = join(project.directory, 'ledger.log')
afterAll(() => project.remove())

test(
  `after kill -9 at ${KILLS} random moments every accepted run ends and no refund is paid twice`,
  { timeout: 300_000 },
  async () => {
    const access = await deploy(project, 'acme.refund-desk')
    const random = seeded(SEED)
    const accepted: { readonly runId: string; readonly amount: number }[] = []

    for (let kill = 0; kill < KILLS; kill++) {
      const server = await start()
      const over = new AbortController()
      const work = Promise.allSettled([
        startRuns(server, access, accepted, [50, 180, 60 + kill], over.signal),
        approveWhatWaits(server, access, accepted, over.signal),
      ])
      await after(random() * LONGEST_LIFE_MS)
      await server.stop('SIGKILL')
      over.abort()
      // A connection that broke is what a kill does; an answer that was wrong is not.
      for (const each of await work) if (each.status === 'rejected' && !isBroken(each.reason)) throw each.reason
    }
    expect(accepted.length).toBeGreaterThan(KILLS)

    const server = await start()
    const ended = await finish(server, access, accepted)
    expect(ended.filter(({ status, output }) => status !== 'Completed' || output === null)).toEqual([])
    expect(ended.map(({ runId, output }) => [runId, (output as { refunded: number }).refunded])).toEqual(
      accepted.map(({ runId, amount }) => [runId, amount]),
    )

    // Each accepted run paid once, and nothing was called a second time.
    const keys = ledger().map(({ key }) => key)
    expect(keys.length).toBe(new Set(keys).size)
    for (const { runId } of accepted) expect(keys.filter((key) => key.includes(runId)).length).toBe(1)

    // A start whose answer was lost with its server may have been kept; it ends like any other.
    const sessions = await get<SessionList>(server, access, `/v1/agents/${access.agentId}/sessions?take=500`)
    expect(sessions.total).toBeGreaterThanOrEqual(accepted.length)

    for (const { runId } of accepted) {
      const response = await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': access.secret } })
      const numbers = [...(await response.text()).matchAll(/^id: ?(\d+)$/gm)].map((match) => Number(match[1]))
      expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, at) => at + 1))
    }
    expect(await server.stop('SIGTERM')).toBe(0)
  },
)

const start = (): Promise<ServerProcess> =>
  serve(['--data', project.data], { cwd: project.directory, env: { REFUNDS_LEDGER: ledgerFile } })

/** Starts one run after another until the server is gone. Only what was answered with 202 counts as accepted. */
async function startRuns(
  server: ServerProcess,
  access: Access,
  accepted: { runId: string; amount: number }[],
  amounts: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  for (const amount of amounts) {
    const response = await fetch(`${server.url}/v1/agents/${access.agentId}/runs`, {
      method: 'POST',
      headers: { 'X-API-Key': access.secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ input: { order: `A-${1000 + accepted.length}`, amount } }),
      signal,
    })
    expect(response.status).toBe(202)
    accepted.push({ runId: ((await response.json()) as StartRunResponse).runId, amount })
  }
}

async function approveWhatWaits(
  server: ServerProcess,
  access: Access,
  accepted: readonly { runId: string }[],
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    for (const { runId } of accepted) {
      const { status } = await get<RunStatusBody>(server, access, `/v1/runs/${runId}`, signal)
      if (status === 'WaitingForHITL') await approve(server, access, runId, signal)
    }
    await after(20)
  }
}

/** Answers the pending approvals of a run over the API; what only an operator can answer is left. */
async function approve(server: ServerProcess, access: Access, runId: string, signal?: AbortSignal): Promise<void> {
  for (const task of await pending(server, access, runId, signal)) {
    if (task.kind !== 'approval') continue
    await fetch(`${server.url}/v1/runs/${runId}/messages`, {
      method: 'POST',
      headers: { 'X-API-Key': access.secret, 'Content-Type': 'application/json' },
      body: JSON.stringify({ runId, userTaskId: task.user_task_id, approved: true }),
      ...(signal ? { signal } : {}),
    })
  }
}

const pending = async (
  server: ServerProcess,
  access: Access,
  runId: string,
  signal?: AbortSignal,
): Promise<TaskContent[]> => {
  const { items } = await get<Conversation>(server, access, `/v1/runs/${runId}/conversation`, signal)
  return items
    .filter((item) => item.type === 'UserTaskReq')
    .map((item) => item.content as unknown as TaskContent)
    .filter((task) => task.status === 'pending')
}

/**
 * Lets every run end, as an approver and an operator would: approvals are given, and of a call whose outcome is unknown the
 * ledger tells whether it happened.
 */
async function finish(
  server: ServerProcess,
  access: Access,
  accepted: readonly { runId: string }[],
): Promise<RunStatusBody[]> {
  const ended: RunStatusBody[] = []
  for (const { runId } of accepted) {
    for (;;) {
      const run = await get<RunStatusBody>(server, access, `/v1/runs/${runId}`)
      if (['Completed', 'Failed', 'Cancelled'].includes(run.status)) {
        ended.push(run)
        break
      }
      if (run.status === 'WaitingForHITL') {
        await approve(server, access, runId)
        for (const task of await pending(server, access, runId))
          if (task.kind === 'anomaly_review') await review(runId, task)
      }
      await after(20)
    }
  }
  return ended
}

async function review(runId: string, task: TaskContent): Promise<void> {
  const line = ledger().find(({ key }) => key.includes(runId))
  const answer = line ? ['--option', 'happened', '--text', JSON.stringify(line.result)] : ['--option', 'retry']
  const ran = await svc(['answer', task.user_task_id, ...answer, '--data', project.data], { cwd: project.directory })
  // `retry` is refused while bytes of the lost call may still arrive; the loop comes back.
  if (ran.code !== 0 && answer[1] === 'happened') throw new Error(ran.stderr)
}

interface LedgerLine {
  readonly key: string
  readonly result: unknown
}

const ledger = (): LedgerLine[] =>
  existsSync(ledgerFile)
    ? readFileSync(ledgerFile, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LedgerLine)
    : []

async function get<T>({ url }: ServerProcess, { secret }: Access, path: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(`${url}${path}`, { headers: { 'X-API-Key': secret }, ...(signal ? { signal } : {}) })
  expect(response.status).toBe(200)
  return (await response.json()) as T
}

const isBroken = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'AbortError' || ['fetch failed', 'terminated'].includes(error.message))

const after = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

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
