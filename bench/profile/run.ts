/** Where the processor time of a run goes, by subject, and the statements and bytes that it writes. See README.md. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { many, warm } from '../engine/load.ts'
import { startModel } from '../engine/model.ts'
import { buildSubjects, inDirectory, open, type Process } from '../engine/process.ts'
import type { Answer, Question } from './product.ts'
import { divideProfile, type Share } from './subjects.ts'

const { values: given } = parseArgs({
  options: {
    runs: { type: 'string', default: '2000' },
    tools: { type: 'string', default: '0,3' },
    functions: { type: 'string', default: '25' },
  },
})
const runs = Number(given.runs)
const AT_ONCE = 64

async function ask(process: Process, question: Question): Promise<Answer> {
  process.child.send(question)
  const [answer] = (await once(process.child, 'message')) as [Answer]
  return answer
}

/** Bytes that the process has handed to files and sockets, and those of them that reached the disk; undefined but on Linux. */
function readWritten(process: Process): { readonly calls: number; readonly disk: number } | undefined {
  try {
    const text = readFileSync(`/proc/${process.child.pid}/io`, 'utf8')
    const of = (name: string): number => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1])
    return { calls: of('syscw'), disk: of('write_bytes') }
  } catch {
    return undefined
  }
}

const line = (name: string, value: string): void => console.log(`  ${name.padEnd(56)}${value.padStart(10)}`)

function printShares(shares: readonly Share[], whole: number, count: number): void {
  for (const { name, us } of shares.slice(0, count))
    line(name, `${((us / whole) * 100).toFixed(1)} % ${(us / runs).toFixed(0).padStart(6)} us`)
}

async function profile(process: Process, tools: string): Promise<void> {
  const before = (await ask(process, { ask: 'statements' })).statements ?? {}
  const written = readWritten(process)
  await ask(process, { ask: 'record' })
  const { cpuMs } = await process.used()
  await many(process, tools, runs, AT_ONCE)
  const cpu = (await process.used()).cpuMs - cpuMs
  const { profile } = await ask(process, { ask: 'recorded' })
  const since = readWritten(process)
  const after = (await ask(process, { ask: 'statements' })).statements ?? {}

  console.log(`\nA run with ${tools} tools, ${AT_ONCE} at once`)
  line('CPU, with the profiler', `${(cpu / runs).toFixed(2)} ms`)
  if (written && since) {
    line('written to disk', `${((since.disk - written.disk) / runs / 1024).toFixed(1)} KiB`)
    line('system calls that write', ((since.calls - written.calls) / runs).toFixed(1))
  }
  const counts = Object.entries(after)
    .map(([name, { count, ms }]) => {
      const earlier = before[name] ?? { count: 0, ms: 0 }
      return { name, each: (count - earlier.count) / runs, us: ((ms - earlier.ms) * 1000) / runs }
    })
    .filter(({ each }) => each >= 0.005)
    .toSorted((a, b) => b.us - a.us)
  const sum = (value: (of: (typeof counts)[number]) => number): number => counts.reduce((all, of) => all + value(of), 0)
  const use = (each: number, us: number): string => `${each.toFixed(2)} ${us.toFixed(0).padStart(6)} us`
  line(
    'statements, and their time by the clock',
    use(
      sum(({ each }) => each),
      sum(({ us }) => us),
    ),
  )
  for (const { name, each, us } of counts) line(`  ${name}`, use(each, us))
  if (profile === undefined) return
  const { subjects, functions } = divideProfile(profile)
  const whole = subjects.reduce((sum, { us }) => sum + us, 0)
  console.log('\n  Time by subject')
  printShares(subjects, whole, subjects.length)
  console.log('\n  Time by function')
  printShares(functions, whole, Number(given.functions))
}

await buildSubjects({ product: new URL('product.ts', import.meta.url) }, true)
const model = await startModel()
await inDirectory(async (directory) => {
  const process = await open('./product.mjs', [directory, model.url])
  await warm(process)
  for (const tools of given.tools.split(',')) await profile(process, tools)
  await process.kill()
})
await model.close()
