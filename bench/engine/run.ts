/** Runs a second, and what one costs, beside a ceiling measured in the same round. See README.md. */
import { fork, type ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as requestHttp } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { startModel, type Model } from './model.ts'
import type { Ready, Used } from './subject.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 3)
const RUNS = Number(process.env['RUNS'] ?? 1000)
const OPEN = Number(process.env['OPEN'] ?? 1000)
const PARKED = Number(process.env['PARKED'] ?? 10_000)
/** Tools called by the runs of the load. */
const LOADS = (process.env['LOADS'] ?? '0,3').split(',')
const ONLY = process.env['ONLY']?.split(',')

/** Bundled as the binary is: what is measured is not how a loader of TypeScript rewrites it. */
const BUILT = new URL('../../node_modules/.cache/svc-bench/', import.meta.url)
await build({
  entryPoints: ['./product.ts', './ceiling.ts'].map((file) => fileURLToPath(new URL(file, import.meta.url))),
  outdir: fileURLToPath(BUILT),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  packages: 'external',
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
})
cpSync(new URL('../../src/store/sqlite/migrations/', import.meta.url), new URL('./migrations/', BUILT), {
  recursive: true,
})

interface Process {
  readonly ready: Ready
  /** Milliseconds from the spawn until it listened. */
  readonly bootMs: number
  /** Starts a run; resolves with the milliseconds to its 202 and to its end. */
  run(tools: string): Promise<{ accepted: number; ended: Promise<number> }>
  used(collect?: boolean): Promise<Used>
  kill(): Promise<void>
}

async function open(file: string, args: readonly string[]): Promise<Process> {
  const spawned = performance.now()
  const child: ChildProcess = fork(new URL(file, BUILT), args, {
    execArgv: ['--expose-gc', ...(process.env['PROFILE'] ? ['--cpu-prof'] : [])],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<string, (at: number) => void>()
  const early = new Map<string, number>()
  let onReady: ((about: Ready) => void) | undefined
  let onUsed: ((used: Used) => void) | undefined
  child.on('message', (message: { ready?: Ready; used?: Used; ended?: string[] }) => {
    if (message.ready) onReady?.(message.ready)
    if (message.used) onUsed?.(message.used)
    for (const id of message.ended ?? []) {
      const tell = waiting.get(id)
      if (tell) tell(performance.now())
      else early.set(id, performance.now())
      waiting.delete(id)
    }
  })
  const ready = await new Promise<Ready>((resolve, reject) => {
    onReady = resolve
    child.once('exit', (code) => reject(new Error(`${file} ended with ${code}.`)))
  })
  const bootMs = performance.now() - spawned
  const agent = new Agent({ keepAlive: true, maxSockets: 2000 })
  const { port } = new URL(ready.url)
  return {
    ready,
    bootMs,
    async run(tools) {
      const body = JSON.stringify({ input: { order: 'A-1042' }, tools: Number(tools) })
      const from = performance.now()
      const key = ready.headers[tools]
      const answer = await new Promise<string>((resolve, reject) => {
        const request = requestHttp(
          {
            host: '127.0.0.1',
            port,
            path: ready.starts[tools],
            method: 'POST',
            agent,
            headers: {
              'content-type': 'application/json',
              'content-length': Buffer.byteLength(body),
              ...(key !== undefined && { 'x-api-key': key }),
            },
          },
          (response) => {
            let text = ''
            response.setEncoding('utf8')
            response.on('data', (chunk: string) => (text += chunk))
            response.on('end', () =>
              response.statusCode === 202 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
            )
          },
        )
        request.on('error', reject)
        request.end(body)
      })
      const accepted = performance.now() - from
      const { runId } = JSON.parse(answer) as { runId: string }
      const before = early.get(runId)
      early.delete(runId)
      const ended =
        before !== undefined
          ? Promise.resolve(before - from)
          : new Promise<number>((resolve) => waiting.set(runId, (at) => resolve(at - from)))
      return { accepted, ended }
    },
    used(collect = false) {
      child.send(collect ? 'collect' : 'used')
      return new Promise((resolve) => (onUsed = resolve))
    },
    async kill() {
      agent.destroy()
      const gone = new Promise((resolve) => child.once('exit', resolve))
      if (process.env['PROFILE']) child.disconnect()
      else child.kill('SIGKILL')
      await gone
    },
  }
}

const SUBJECTS: Readonly<Record<string, (directory: string, model: string) => Promise<Process>>> = {
  'svc, scripted': (directory) => open('./product.mjs', [directory, 'scripted']),
  'svc, openai': (directory, model) => open('./product.mjs', [directory, model]),
  'node:http, no model': (directory) => open('./ceiling.mjs', [directory, 'node', 'none']),
  'h3, no model': (directory) => open('./ceiling.mjs', [directory, 'h3', 'none']),
  'h3, openai': (directory, model) => open('./ceiling.mjs', [directory, 'h3', model]),
}

const percentile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))]!

interface Row {
  figure: string
  values: number[]
}
const found = new Map<string, Row[]>()
function note(subject: string, figure: string, value: number): void {
  const rows = found.get(subject) ?? []
  found.set(subject, rows)
  const row = rows.find((each) => each.figure === figure)
  if (row) row.values.push(value)
  else rows.push({ figure, values: [value] })
}
const median = (subject: string, figure: string): number =>
  percentile(found.get(subject)?.find((each) => each.figure === figure)?.values ?? [NaN], 0.5)

async function one(name: string, process: Process): Promise<void> {
  note(name, 'spawn to listening, ms', process.bootMs)
  for (const tools of ['0', '3']) for (let n = 0; n < 100; n++) await (await process.run(tools)).ended
  note(name, 'idle RSS, MiB', (await process.used(true)).rss / 2 ** 20)
  for (const tools of ['0', '1', '3']) {
    const accepted: number[] = []
    const ended: number[] = []
    const before = await process.used()
    for (let n = 0; n < 200; n++) {
      const run = await process.run(tools)
      accepted.push(run.accepted)
      ended.push(await run.ended)
    }
    note(name, `commits of a run with ${tools} tools`, ((await process.used()).saves - before.saves) / 200)
    if (tools === '0') note(name, 'POST to 202, p50 ms', percentile(accepted, 0.5))
    note(name, `run with ${tools} tools, p50 ms`, percentile(ended, 0.5))
    note(name, `run with ${tools} tools, p99 ms`, percentile(ended, 0.99))
  }
  for (const tools of LOADS) {
    for (const at of [1, 16, 64]) {
      const count = at === 1 ? RUNS / 4 : RUNS
      const before = await process.used()
      const ended: number[] = []
      const from = performance.now()
      let left = count
      await Promise.all(
        Array.from({ length: at }, async () => {
          while (left-- > 0) ended.push(await (await process.run(tools)).ended)
        }),
      )
      const seconds = (performance.now() - from) / 1000
      const after = await process.used()
      note(name, `runs/s with ${tools} tools, ${at} at once`, count / seconds)
      note(name, `CPU ms a run with ${tools} tools, ${at} at once`, (after.cpuMs - before.cpuMs) / count)
      if (at !== 64) continue
      note(name, `p99 / p50 with ${tools} tools, 64 at once`, percentile(ended, 0.99) / percentile(ended, 0.5))
      note(name, `longest stall with ${tools} tools, 64 at once, ms`, after.longestStallMs)
    }
  }
  note(name, 'RSS after the load, MiB', (await process.used(true)).rss / 2 ** 20)
}

/** Killed with so many completions out: the time from the spawn until each was asked for again. */
async function recovery(name: string, model: Model, directory: string): Promise<void> {
  const subject = SUBJECTS[name]!
  model.hang(true)
  const first = await subject(directory, model.url)
  const before = model.asked()
  for (let n = 0; n < OPEN; n += 50) await Promise.all(Array.from({ length: 50 }, () => first.run('0')))
  while (model.asked() < before + OPEN) await new Promise(setImmediate)
  await first.kill()
  const asked = model.asked()
  const from = performance.now()
  const second = await subject(directory, model.url)
  while (model.asked() < asked + OPEN) await new Promise((resolve) => setTimeout(resolve, 1))
  note(name, `restart with ${OPEN} open runs until all are asked again, ms`, performance.now() - from)
  await second.kill()
  model.hang(false)
}

async function parked(name: string, model: Model, directory: string): Promise<void> {
  const first = await SUBJECTS[name]!(directory, model.url)
  for (let n = 0; n < 100; n++) await (await first.run('0')).ended
  const before = await first.used(true)
  for (let n = 0; n < PARKED; n += 50) {
    await Promise.all(Array.from({ length: 50 }, async () => (await first.run('waits')).ended))
  }
  const after = await first.used(true)
  note(name, `KiB of RSS for one of ${PARKED} parked runs`, (after.rss - before.rss) / 1024 / PARKED)
  note(name, `KiB of heap for one of ${PARKED} parked runs`, (after.heap - before.heap) / 1024 / PARKED)
  await first.kill()
  const second = await SUBJECTS[name]!(directory, model.url)
  note(name, `spawn to listening with ${PARKED} parked runs, ms`, second.bootMs)
  const idle = await second.used(true)
  note(name, `RSS after a restart with ${PARKED} parked runs, MiB`, idle.rss / 2 ** 20)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  note(name, 'CPU ms of an idle second', (await second.used()).cpuMs - idle.cpuMs)
  await second.kill()
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  try {
    await work(directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const wants = (part: string): boolean => ONLY === undefined || ONLY.includes(part)
const model = await startModel()
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, subject] of Object.entries(SUBJECTS)) {
    if (!wants('load') || (process.env['SUBJECT'] && process.env['SUBJECT'] !== name)) continue
    await inDirectory(async (directory) => {
      const process = await subject(directory, model.url)
      await one(name, process)
      await process.kill()
    })
  }
  if (wants('recovery'))
    for (const name of ['svc, openai', 'h3, openai']) await inDirectory((directory) => recovery(name, model, directory))
}
if (wants('parked')) await inDirectory((directory) => parked('svc, scripted', model, directory))
await model.close()

for (const [name, rows] of found) {
  console.log(`\n${name}`)
  for (const { figure } of rows) console.log(`  ${figure.padEnd(64)} ${median(name, figure).toFixed(2).padStart(10)}`)
}

const ratio = (figure: string, ours: string, ceiling: string): number => median(ours, figure) / median(ceiling, figure)
const SCRIPTED = ['svc, scripted', 'h3, no model'] as const
const OPENAI = ['svc, openai', 'h3, openai'] as const
const goals: readonly (readonly [string, number, '<=' | '>=', number])[] = [
  ['G1 POST to 202, x ceiling', ratio('POST to 202, p50 ms', ...SCRIPTED), '<=', 1.5],
  ['G2 run with 0 tools, x ceiling', ratio('run with 0 tools, p50 ms', ...OPENAI), '<=', 2],
  ['G3 run with 3 tools, x ceiling', ratio('run with 3 tools, p50 ms', ...OPENAI), '<=', 2],
  ['G4 runs/s, 0 tools, 64 at once, x ceiling', ratio('runs/s with 0 tools, 64 at once', ...OPENAI), '>=', 0.6],
  ['G4 runs/s, 3 tools, 64 at once, x ceiling', ratio('runs/s with 3 tools, 64 at once', ...OPENAI), '>=', 0.6],
  ['G4 p99 / p50, 64 at once', median('svc, openai', 'p99 / p50 with 3 tools, 64 at once'), '<=', 4],
  ['G5 CPU a run, 0 tools, x ceiling', ratio('CPU ms a run with 0 tools, 64 at once', ...OPENAI), '<=', 2.5],
  ['G5 CPU a run, 3 tools, x ceiling', ratio('CPU ms a run with 3 tools, 64 at once', ...OPENAI), '<=', 2.5],
  [
    'G6 restart until all are asked again, x ceiling',
    ratio(`restart with ${OPEN} open runs until all are asked again, ms`, ...OPENAI),
    '<=',
    1.5,
  ],
  ['G9 idle RSS, x ceiling', ratio('idle RSS, MiB', ...OPENAI), '<=', 1.6],
  ['G10 KiB a parked run', median('svc, scripted', `KiB of RSS for one of ${PARKED} parked runs`), '<=', 8],
  ['G13 longest stall, ms', median('svc, openai', 'longest stall with 3 tools, 64 at once, ms'), '<=', 25],
]
console.log('')
let missed = 0
for (const [goal, value, sign, bound] of goals) {
  if (Number.isNaN(value)) continue
  const met = sign === '<=' ? value <= bound : value >= bound
  if (!met) missed++
  console.log(`${met ? 'met   ' : 'MISSED'} ${goal.padEnd(52)} ${value.toFixed(2).padStart(8)} ${sign} ${bound}`)
}
process.exitCode = missed > 0 ? 1 : 0
