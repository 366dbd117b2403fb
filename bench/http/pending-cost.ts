/** What `pending` adds to the status of a run: CPU of reads of a run that waits for an approval, beside reads of one that ended, in pairs. */
import type { ChildProcess } from 'node:child_process'
import { load } from './load.ts'

const PAIRS = 15
const CONNECTIONS = 8
const MILLISECONDS = 300

interface Server {
  readonly port: number
  readonly child: ChildProcess
}

/** @returns of each pair, CPU of a read with `pending` times that of one without */
export async function pendingCost(
  { port, child }: Server,
  request: { with: string; without: string },
): Promise<number[]> {
  const cpuMs = (): Promise<number> =>
    new Promise((resolve) => {
      child.once('message', (about: { cpuMs: number }) => resolve(about.cpuMs))
      child.send('used')
    })
  const costOf = async (text: string): Promise<number> => {
    const before = await cpuMs()
    const { count } = await load({
      port,
      connections: CONNECTIONS,
      milliseconds: MILLISECONDS,
      request: () => text,
    })
    return ((await cpuMs()) - before) / count
  }
  for (let warm = 0; warm < 3; warm++) for (const text of [request.with, request.without]) await costOf(text)
  const ratios: number[] = []
  while (ratios.length < PAIRS) {
    const without = await costOf(request.without)
    ratios.push((await costOf(request.with)) / without)
  }
  return ratios
}
