/** Several processes on one PostgreSQL, beside DBOS on the same one. See README.md. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openLocalStorage } from '../../src/blobs/local/serve.ts'
import { startPostgres } from '../../test/store/postgres-server.ts'
import { startModel } from '../engine/model.ts'
import { createReport, judge, type Goal } from '../engine/report.ts'
import { load } from '../http/load.ts'
import { claimTime } from './claims.ts'
import { fencedSaves, plainSaves } from './saves.ts'
import { cpuSeconds, openDbos, openSvc, type ScaleSubject, type SubjectParts } from './subjects.ts'
import { walPosition, writtenBetween } from './wal.ts'

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: 'runs,saves,claim' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    at: { type: 'string', default: '64' },
    warm: { type: 'string', default: '1500' },
    tools: { type: 'string', default: '0,3' },
    svc: { type: 'string', default: '1,2,3' },
    dbos: { type: 'string', default: '1,2' },
    open: { type: 'string', default: '1000,1000000' },
    profile: { type: 'boolean', default: false },
    wal: { type: 'boolean', default: false },
  },
})
const only = options.only.split(',')
const numbers = (text: string): number[] => text.split(',').filter(Boolean).map(Number)
const [rounds, seconds, atOnce] = [options.rounds, options.seconds, options.at].map(Number) as [number, number, number]

const directory = mkdtempSync(join(tmpdir(), 'svc-scale-'))
const started = startPostgres(['fsync=on', ...(options.profile ? ['shared_preload_libraries=pg_stat_statements'] : [])])
if (!started) process.exit(1)
const postgres = started
const report = createReport()
try {
  if (only.includes('runs')) await runs()
  if (only.includes('saves')) await saves()
  if (only.includes('claim')) await claims()
} finally {
  postgres.stop()
  if (!options.profile) rmSync(directory, { recursive: true, force: true })
}
report.print((line) => console.log(line))
process.exitCode = judge(goals(), (line) => console.log(line)) > 0 ? 1 : 0
if (options.profile) console.log(`\nProfiles: ${directory}`)

async function runs(): Promise<void> {
  const model = await startModel()
  const storage = await openLocalStorage({
    directory: join(directory, 'bucket'),
    host: '127.0.0.1',
    port: 0,
    credentials: { accessKeyId: 'svc', secretAccessKey: 'the-secret-of-files' },
  })
  const makers: ((parts: Omit<SubjectParts, 'processes'>) => Promise<ScaleSubject>)[] = [
    ...numbers(options.dbos).map(
      (n) => (parts: Omit<SubjectParts, 'processes'>) => openDbos({ ...parts, processes: n }),
    ),
    ...numbers(options.svc).map(
      (n) => (parts: Omit<SubjectParts, 'processes'>) => openSvc({ ...parts, processes: n }, storage.endpoint),
    ),
  ]
  try {
    for (let round = 0; round < rounds; round++)
      for (const [at, open] of makers.entries()) {
        const database = postgres.url(`round_${round}_${at}`)
        const own = join(directory, `${round}-${at}`)
        mkdirSync(own)
        const subject = await open({ directory: own, database, model: model.url, profile: options.profile })
        try {
          for (const tools of options.tools.split(',')) await measure(subject, tools, database)
        } finally {
          await subject.close()
        }
      }
  } finally {
    await storage.close(0)
    await model.close()
  }
}

async function measure(subject: ScaleSubject, tools: string, database: string): Promise<void> {
  const processes = subject.pids.length
  const push = (milliseconds: number) =>
    Promise.all(
      subject.pids.map((_, n) => {
        const { port, head, body } = subject.request(n, tools)
        const request = `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
        const connections = Math.ceil(atOnce / processes)
        return load({ port, connections, milliseconds, request: () => request })
      }),
    )
  // Code that is still being compiled says nothing: so many runs for each process.
  for (let warm = 0; warm < processes * Number(options.warm);)
    warm += (await push(1000)).reduce((sum, each) => sum + each.count, 0)
  if (options.profile) await statements(database, 1)
  const cpu = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
  const backends = postgresPids()
  const [before, serversBefore, databaseBefore] = [await databaseUse(database), cpu(subject.pids), cpu(backends)]
  const walBefore = await walPosition(database)
  const measured = await push(seconds * 1000)
  // What was given last is stored by now, whatever the statistics of the server lag.
  const [after, serversAfter, databaseAfter] = [await databaseUse(database), cpu(subject.pids), cpu(backends)]
  const count = measured.reduce((sum, each) => sum + each.count, 0)
  const note = (figure: string, value: number): void => report.note(`${tools} tools`, figure, subject.name, value)
  note(
    'runs/s',
    measured.reduce((sum, each) => sum + each.perSecond, 0),
  )
  note('p50 ms', Math.max(...measured.map((each) => each.p50)))
  note('p99 ms', Math.max(...measured.map((each) => each.p99)))
  note('CPU ms a run, servers', ((serversAfter - serversBefore) * 1000) / count)
  note('CPU ms a run, PostgreSQL', ((databaseAfter - databaseBefore) * 1000) / count)
  note('CPU ms a run', ((serversAfter - serversBefore + databaseAfter - databaseBefore) * 1000) / count)
  note('transactions a run', (after.transactions - before.transactions) / count)
  note('WAL KiB a run', (after.wal - before.wal) / count / 1024)
  if (options.profile) console.log(`\n${subject.name}, ${tools} tools\n${await statements(database, count)}`)
  if (options.wal) console.log(`\n${subject.name}, ${tools} tools\n${await written(database, walBefore, count)}`)
}

/** What each of so many runs wrote since then, by table and index. */
async function written(url: string, from: string, count: number): Promise<string> {
  const parts = await writtenBetween(url, from, await walPosition(url))
  const each = (value: number, digits = 0): string => (value / count).toFixed(digits)
  return parts
    .slice(0, 40)
    .map(
      ({ name, records, bytes, images }) =>
        `${each(records, 2)} x, ${each(bytes)} B, ${each(images)} B of pages  ${name}`,
    )
    .join('\n')
}

/** Calls and milliseconds of the statements that were made since it was last asked, for each of so many runs. */
async function statements(url: string, count: number): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create extension if not exists pg_stat_statements schema public')
  const { rows } = await client.query<{ calls: string; ms: number; text: string }>(
    `select calls, total_exec_time as ms, left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as text
     from public.pg_stat_statements where dbid = (select oid from pg_database where datname = current_database())
     order by total_exec_time desc limit 25`,
  )
  await client.query('select public.pg_stat_statements_reset()')
  await client.end()
  return rows
    .map(({ calls, ms, text }) => `${(Number(calls) / count).toFixed(2)} x ${(ms / count).toFixed(3)} ms  ${text}`)
    .join('\n')
}

/** All processes of the server. Pools open their connections while they warm, so none is missed. */
function postgresPids(): number[] {
  const parent = Number(readFileSync(join(postgres.socket, '../data/postmaster.pid'), 'utf8').split('\n')[0])
  const children = readdirSync('/proc').filter((each) => {
    if (!/^\d+$/.test(each)) return false
    try {
      return (
        Number(
          readFileSync(`/proc/${each}/stat`, 'utf8')
            .replace(/^.*\) /s, '')
            .split(' ')[1],
        ) === parent
      )
    } catch {
      return false
    }
  })
  return [parent, ...children.map(Number)]
}

async function databaseUse(url: string): Promise<{ transactions: number; wal: number }> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Backends tell what they did at most once a second.
  await new Promise((done) => setTimeout(done, 1200))
  const { rows } = await client.query<{ transactions: string; wal: string }>(
    `select xact_commit + xact_rollback as transactions, pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as wal
     from pg_stat_database where datname = current_database()`,
  )
  await client.end()
  return { transactions: Number(rows[0]!.transactions), wal: Number(rows[0]!.wal) }
}

async function saves(): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const url = postgres.url(`saves_${round}`)
    for (const [name, work] of [
      ['plain', plainSaves],
      ['fenced', fencedSaves],
    ] as const) {
      const { perSecond, cpuUs } = await work(url, seconds)
      report.note('saves', 'a second', name, perSecond)
      report.note('saves', 'CPU us a save, client', name, cpuUs)
    }
  }
}

async function claims(): Promise<void> {
  const sizes = numbers(options.open)
  const urls = sizes.map((size) => postgres.url(`claims_${size}`))
  for (const [at, size] of sizes.entries())
    report.note('claim', 'p99 ms', String(size), await claimTime(urls[at]!, size))
}

function goals(): readonly Goal[] {
  const best = (tools: string): number =>
    Math.max(...numbers(options.dbos).map((n) => report.of(`${tools} tools`, 'runs/s', `DBOS, ${n}`)))
  const sizes = numbers(options.open)
  const claim = (size: number): number => report.of('claim', 'p99 ms', String(size))
  return [
    ...(
      [
        ['0', 1],
        ['3', 1.5],
      ] as const
    ).map(([tools, bound]) => ({
      name: `runs/s of two processes with ${tools} tools, x the best of DBOS (G21)`,
      value: report.of(`${tools} tools`, 'runs/s', 'svc, 2') / best(tools),
      sign: '>=' as const,
      bound,
    })),
    {
      name: 'fenced saves a second, x plain transactions',
      value: report.of('saves', 'a second', 'fenced') / report.of('saves', 'a second', 'plain'),
      sign: '>=',
      bound: 1,
    },
    {
      name: `claim p99 with ${sizes.at(-1)} open sessions, x with ${sizes[0]}`,
      value: claim(sizes.at(-1)!) / claim(sizes[0]!),
      sign: '<=',
      bound: 2,
    },
  ]
}
