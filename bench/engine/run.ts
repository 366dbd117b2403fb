/** Runs a second, and what one costs, beside a ceiling measured in the same round. See README.md. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { GROWTH, growth } from './growth.ts'
import { LATENCY, LOAD, READ, latency, load, readers, warm } from './load.ts'
import { startModel } from './model.ts'
import { growing, PARKED, parked } from './parked.ts'
import { buildSubjects, inDirectory, open, type Process } from './process.ts'
import { RECOVERY, recovery } from './recovery.ts'
import { createReport, judge, type Goal } from './report.ts'

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', default: 'latency,load,read,recovery,parked,growth' },
    subject: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    runs: { type: 'string', default: '2000' },
    at: { type: 'string', default: '1,16,64' },
    tools: { type: 'string', default: '0,3' },
    open: { type: 'string', default: '200,1000' },
    parked: { type: 'string', default: '100000' },
    stored: { type: 'string', default: '1000,100000' },
    profile: { type: 'boolean', default: false },
  },
})
const numbers = (text: string): number[] => text.split(',').map(Number)
const wants = (part: string): boolean => given.only.split(',').includes(part)

type Spawn = (directory: string, model: string) => Promise<Process>
const subject =
  (file: string, ...args: ((model: string) => string)[]): Spawn =>
  (directory, model) =>
    open(file, [directory, ...args.map((each) => each(model))], given.profile)
const is = (word: string) => () => word
const address = (model: string): string => model

const SUBJECTS: Readonly<Record<string, Spawn>> = {
  'svc, scripted': subject('./product.mjs', is('scripted')),
  'svc, openai': subject('./product.mjs', address),
  'node:http, no model': subject('./ceiling.mjs', is('node'), is('none')),
  'h3, no model': subject('./ceiling.mjs', is('h3'), is('none')),
  'h3, openai': subject('./ceiling.mjs', is('h3'), address),
}

const READ_SUBJECT = 'svc, openai'

await buildSubjects()
const report = createReport()
const model = await startModel()
const spawn =
  (name: string, directory: string): (() => Promise<Process>) =>
  () =>
    SUBJECTS[name]!(directory, model.url)

for (let round = 0; round < Number(given.rounds); round++) {
  for (const name of Object.keys(SUBJECTS)) {
    if (!(wants('latency') || wants('load')) || (given.subject ?? name) !== name) continue
    await inDirectory(async (directory) => {
      const process = await spawn(name, directory)()
      await warm(process)
      if (wants('latency')) await latency(process, name, report)
      const about = { runs: Number(given.runs), at: numbers(given.at), tools: given.tools.split(',') }
      if (wants('load')) await load(process, name, about, report)
      await process.kill()
    })
  }
  if (wants('read'))
    await inDirectory(async (directory) => {
      const process = await spawn(READ_SUBJECT, directory)()
      await warm(process)
      await readers(process, READ_SUBJECT, Number(given.runs), report)
      await process.kill()
    })
  for (const openRuns of wants('recovery') ? numbers(given.open) : [])
    for (const name of ['svc, openai', 'h3, openai'])
      await inDirectory((directory) => recovery(spawn(name, directory), name, openRuns, model, report))
}
const SCRIPTED = 'svc, scripted'
if (wants('parked')) {
  await inDirectory((parent) =>
    parked((directory) => spawn(SCRIPTED, join(parent, directory))(), Number(given.parked), report),
  )
  await inDirectory((parent) => {
    let opened = 0
    return growing(() => spawn(SCRIPTED, join(parent, String(opened++)))(), [1000, 10_000], report)
  })
}
if (wants('growth')) {
  await inDirectory((parent) => {
    const directoryOf = (stored: number): string => join(parent, String(stored))
    return growth((stored) => spawn(SCRIPTED, directoryOf(stored))(), directoryOf, numbers(given.stored), report)
  })
}
await model.close()

report.print(console.log)

const ratio = (part: string, figure: string, ours: string, other: string): number =>
  report.of(part, figure, ours) / report.of(part, figure, other)
const openai = (part: string, figure: string): number => ratio(part, figure, 'svc, openai', 'h3, openai')
const stored = numbers(given.stored)
const [few, most] = [String(Math.min(...stored)), String(Math.max(...stored))]
const grown = (figure: string): number => (few === most ? NaN : ratio(GROWTH, figure, most, few))
const goal = (name: string, value: number, sign: Goal['sign'], bound: number): Goal => ({ name, value, sign, bound })
const many = given.parked

const goals: readonly Goal[] = [
  goal('G1 POST to 202, x ceiling', ratio(LATENCY, 'POST to 202, p50 ms', SCRIPTED, 'h3, no model'), '<=', 1.5),
  goal('G2 run with 0 tools, x ceiling', openai(LATENCY, 'run with 0 tools, p50 ms'), '<=', 2),
  goal('G3 run with 3 tools, x ceiling', openai(LATENCY, 'run with 3 tools, p50 ms'), '<=', 2),
  ...['0', '3'].flatMap((tools) => [
    goal(
      `G4 runs/s, ${tools} tools, 64 at once, x ceiling`,
      openai(LOAD, `${tools} tools, 64 at once: runs/s`),
      '>=',
      0.6,
    ),
    goal(
      `G4 p99 / p50, ${tools} tools, 64 at once`,
      report.of(LOAD, `${tools} tools, 64 at once: p99 ms`, 'svc, openai') /
        report.of(LOAD, `${tools} tools, 64 at once: p50 ms`, 'svc, openai'),
      '<=',
      4,
    ),
    goal(
      `G5 CPU a run, ${tools} tools, x ceiling`,
      openai(LOAD, `${tools} tools, 64 at once: CPU ms a run`),
      '<=',
      2.5,
    ),
  ]),
  ...['0', '3'].map((tools) =>
    goal(
      `G19 CPU a run with a reader, ${tools} tools, x without one`,
      report.of(READ, `${tools} tools: x without one`, READ_SUBJECT),
      '<=',
      1.5,
    ),
  ),
  goal(
    'G19 CPU of a piece of text for a reader, x to receive it',
    report.of(READ, 'CPU us a piece of text, a reader', READ_SUBJECT) /
      report.of(READ, 'CPU us a piece of text, to receive', READ_SUBJECT),
    '<=',
    0.75,
  ),
  ...numbers(given.open).map((openRuns) =>
    goal(
      `G6 killed with ${openRuns} open runs, until all are asked again, x ceiling`,
      openai(RECOVERY, `${openRuns} runs: spawn until all are asked again, ms`),
      '<=',
      1.5,
    ),
  ),
  goal('G9 idle RSS, x ceiling', openai(LATENCY, 'idle RSS, MiB'), '<=', 1.6),
  goal(
    'G9 RSS after 1,000 runs, MiB more',
    report.of(PARKED, 'RSS after more runs that end, MiB more', '1000'),
    '<=',
    20,
  ),
  goal(`start with ${many} runs that wait, ms`, report.of(PARKED, 'spawn to listening, ms', many), '<=', 2000),
  goal(`G10 RSS with ${many} runs that wait, MiB more than with none`, more('RSS, MiB'), '<=', 40),
  goal(`CPU of an idle second with ${many} runs that wait, ms more`, more('CPU ms of an idle second'), '<=', 5),
  goal(
    `POST to 202 with ${many} runs that wait, x none`,
    ratio(PARKED, 'POST to 202, p50 ms', many, 'none'),
    '<=',
    1.5,
  ),
  goal(
    'G10 RSS after 10,000 runs that come to wait, KiB each',
    (report.of(PARKED, 'RSS after more runs that come to wait, MiB more', '10000') / 10_000) * 1024,
    '<=',
    8,
  ),
  goal(
    `G13 longest stall under load, ${most} stored runs, ms`,
    report.of(GROWTH, '3 tools, 64 at once: longest stall, ms', most),
    '<=',
    25,
  ),
  goal(`G18 status, ${most} stored runs, x ${few}`, grown('status, p50 ms'), '<=', 4),
  goal(`G18 timeline, ${most} stored runs, x ${few}`, grown('timeline, p50 ms'), '<=', 4),
  goal(`G18 first page, ${most} stored runs, x ${few}`, grown('first page, p50 ms'), '<=', 1.5),
  goal(`G18 POST to 202, ${most} stored runs, x ${few}`, grown('POST to 202, p50 ms'), '<=', 1.5),
  goal(`G18 spawn to listening, ${most} stored runs, x ${few}`, grown('spawn to listening, ms'), '<=', 3),
  goal(`G18 deepest page, ${most} stored runs, ms`, report.of(GROWTH, 'deepest page, p50 ms', most), '<=', 100),
  goal(`G18 KiB a stored run of 5 steps, ${most} of them (2.5 for 4)`, report.of(GROWTH, 'KiB a run', most), '<=', 3.1),
]
process.exitCode = judge(goals, console.log) > 0 ? 1 : 0

function more(figure: string): number {
  return report.of(PARKED, figure, many) - report.of(PARKED, figure, 'none')
}
