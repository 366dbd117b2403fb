/** What a reader of the stream costs: CPU of runs that are read to their end, beside runs that nobody reads, in pairs. */
import type { ChildProcess } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'

const PAIRS = 7
const RUNS = Number(process.env['RUNS'] ?? 300)
const AT_ONCE = 32

interface Server {
  readonly port: number
  readonly child: ChildProcess
  readonly spoken: { readonly agentId: string; readonly key: string }
}

/** @returns of each pair, CPU of a run with a reader (POST, stream to the end, GET), times that of the same run without one */
export async function readerCost({ port, child, spoken: { agentId, key } }: Server): Promise<number[]> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const url = `http://127.0.0.1:${port}/v1`
  const start = async (): Promise<string> => {
    const body = '{"input":{"message":"Hello."}}'
    const response = await fetch(`${url}/agents/${agentId}/runs`, { method: 'POST', headers, body })
    return ((await response.json()) as { runId: string }).runId
  }
  const status = async (runId: string): Promise<string> =>
    ((await (await fetch(`${url}/runs/${runId}`, { headers })).json()) as { status: string }).status
  const read = async (): Promise<void> => {
    const runId = await start()
    const text = await (await fetch(`${url}/runs/${runId}/stream`, { headers })).text()
    if (!text.includes('engine.session.completed') || (await status(runId)) !== 'Completed')
      throw new Error(`Run ${runId} was not read to its end.`)
  }
  const many = async (run: () => Promise<unknown>): Promise<void> => {
    let left = RUNS
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (left-- > 0) await run()
      }),
    )
  }
  const cpuMs = (): Promise<number> =>
    new Promise((resolve) => {
      child.once('message', (about: { cpuMs: number }) => resolve(about.cpuMs))
      child.send('used')
    })
  const costOf = async (work: () => Promise<void>): Promise<number> => {
    const before = await cpuMs()
    await work()
    return (await cpuMs()) - before
  }
  const alone = async (): Promise<void> => {
    const runs: string[] = []
    await many(async () => runs.push(await start()))
    for (const runId of runs.slice(-AT_ONCE)) while ((await status(runId)) !== 'Completed') await pause(10)
  }
  await alone()
  await many(read)
  const ratios: number[] = []
  while (ratios.length < PAIRS) {
    const without = await costOf(alone)
    ratios.push((await costOf(() => many(read))) / without)
  }
  return ratios
}
