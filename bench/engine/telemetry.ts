/**
 * What the export of traces, metrics and logs costs a run with three tools, beside the same run without. The model is asked through the
 * openai SDK, the receiver takes everything. In pairs of batches, because the machine has other work. See README.md.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { many } from './load.ts'
import { startModel } from './model.ts'
import { buildSubjects, inDirectory, open, type Process } from './process.ts'
import { percentile } from './report.ts'

const PAIRS = Number(process.env['PAIRS'] ?? 10)
const RUNS = Number(process.env['RUNS'] ?? 300)
const TOOLS = '3'
/** Runs before anything is measured: code that is still being compiled says nothing. */
const WARM = Number(process.env['WARM'] ?? 1000)
/** Goal: at most 5 % of the processor time of a run, the only figure to rely on while a machine does other work. */
const MOST = 1.05

let taken = 0
const receiver = createServer((request, response) => {
  request.on('data', (chunk: Buffer) => (taken += chunk.length))
  request.on('end', () => response.writeHead(200).end())
})
receiver.listen(0, '127.0.0.1')
await once(receiver, 'listening')
const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
const VARIABLES = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_BSP_SCHEDULE_DELAY: '1000' }

const median = (values: readonly number[]): number => percentile([...values], 0.5)

async function cpuOf(subject: Process): Promise<number> {
  const { cpuMs } = await subject.used()
  await many(subject, TOOLS, RUNS, 16)
  // What is exported a moment later is counted, too.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  return ((await subject.used()).cpuMs - cpuMs) / RUNS
}

async function timeOf(subject: Process): Promise<number> {
  const ended: number[] = []
  for (let n = 0; n < RUNS / 3; n++) ended.push(await (await subject.run(TOOLS)).ended)
  return percentile(ended, 0.5)
}

await buildSubjects({ product: new URL('product.ts', import.meta.url) })
const model = await startModel()
const ratios: Record<'time' | 'cpu', number[]> = { time: [], cpu: [] }
await inDirectory(async (without) => {
  await inDirectory(async (directory) => {
    const off = await open('./product.mjs', [without, model.url])
    const on = await open('./product.mjs', [directory, model.url, JSON.stringify(VARIABLES)])
    for (const each of [off, on]) await many(each, TOOLS, WARM, 16)
    for (let pair = 0; pair < PAIRS; pair++) {
      const [first, second] = pair % 2 === 0 ? [off, on] : [on, off]
      for (const [name, measure] of [
        ['time', timeOf],
        ['cpu', cpuOf],
      ] as const) {
        const values = [await measure(first), await measure(second)]
        const [bare, exported] = first === off ? values : values.toReversed()
        ratios[name].push(exported! / bare!)
        console.log(`${name} ${bare!.toFixed(2)} ms, with export ${exported!.toFixed(2)} ms`)
      }
    }
    await off.kill()
    await on.kill()
  })
})
await model.close()
receiver.close()
console.log(`${(taken / 2 ** 20).toFixed(1)} MiB were exported`)
console.log(`time of a run: ${median(ratios.time).toFixed(3)} x`)
console.log(`CPU of a run: ${median(ratios.cpu).toFixed(3)} x (goal: ${MOST})`)
process.exitCode = median(ratios.cpu) > MOST ? 1 : 0
