/** Fenced saves of one process, beside transactions of single statements that write as many bytes without any fence. */
import { performance } from 'node:perf_hooks'
import pg from 'pg'
import { migrateDatabase } from '../../src/store/postgres/migrate-database.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'
import type { Session } from '../../src/spec/run/session.ts'
import { aRun, aStart, aStep, anUpdate, NO_LIMITS } from '../../test/store/makers.ts'

/** Sessions that save at once, each after its last save. */
const SESSIONS = 64
/** Of a process: what the store opens for itself. */
const CONNECTIONS = 10

export interface SaveRate {
  readonly perSecond: number
  readonly cpuUs: number
}

/** A turn after a completion: the session, its run, two steps of about 1 KB in all, three events and a call. */
function aTurnOf(session: Session, n: number): SessionUpdate {
  const text = 'The item arrived broken and the risk is low, so a refund is due. '.repeat(6)
  const ordinal = session.lastOrdinal
  const steps = [1, 2].map((at) => aStep(session, ordinal + at, { content: { text, turn: n } } as never))
  const subjects = ['engine.step.completed', 'engine.step.completed', 'engine.run.resumed']
  return anUpdate(
    { ...session, lastOrdinal: ordinal + 2, totalTokensUsed: n * 300 },
    {
      runs: [aRun(session, { lastSequence: ordinal + 2 })],
      steps,
      subjects,
      calls: [
        {
          sessionId: session.id,
          runId: session.rootRunId,
          callId: `call_${n}`,
          agentId: session.agentId,
          ref: 'bench.look',
          argumentsDigest: `sha256:${'0'.repeat(64)}` as never,
          arguments: { order: 'A-1042', amount: 180 },
          state: 'sent',
          attempt: 1,
          idempotencyKey: `${session.id}:${n}`,
          at: session.startedAt + n,
        },
      ],
    },
  )
}

async function measured(
  seconds: number,
  work: (at: number, isOver: () => boolean) => Promise<number>,
): Promise<SaveRate> {
  const until = performance.now() + seconds * 1000
  const before = process.cpuUsage()
  const from = performance.now()
  const counts = await Promise.all(
    Array.from({ length: SESSIONS }, (_, at) => work(at, () => performance.now() > until)),
  )
  const took = (performance.now() - from) / 1000
  const { user, system } = process.cpuUsage(before)
  const count = counts.reduce((sum, each) => sum + each, 0)
  return { perSecond: count / took, cpuUs: (user + system) / count }
}

export async function fencedSaves(url: string, seconds: number): Promise<SaveRate> {
  await migrateDatabase(url)
  const store = await openPostgres({ url, connections: CONNECTIONS })
  try {
    const holder = { worker: 'bench', ttlMs: 600_000 }
    return await measured(seconds, async (at, isOver) => {
      const update = aStart(`${process.pid}-${performance.now()}-${at}`)
      await store.start(update, NO_LIMITS, undefined, holder)
      let session: Session = { ...update.session, version: 1 }
      let epoch = (await store.claimOne('bench', session.id, holder.ttlMs))!.epoch
      let n = 0
      while (!isOver()) {
        const turn = aTurnOf(session, ++n)
        const lease = await store.save(turn, { ...holder, epoch })
        epoch = lease?.epoch ?? epoch
        session = { ...turn.session, version: session.version + 1 }
      }
      return n
    })
  } finally {
    await store.close()
  }
}

const PLAIN_TABLES = `
  create table if not exists plain_session (id uuid primary key, version bigint not null, content text not null);
  create table if not exists plain_run (id uuid primary key, content text not null);
  create table if not exists plain_step (session uuid, ordinal bigint, content text not null, primary key (session, ordinal));
  create table if not exists plain_event (session uuid, seq bigint, content text not null, primary key (session, seq));
  create table if not exists plain_call (session uuid, call text, content text not null, primary key (session, call));`

/** What one writes first: a transaction, a statement per row, one after the other. */
export async function plainSaves(url: string, seconds: number): Promise<SaveRate> {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
  try {
    await pool.query(PLAIN_TABLES)
    return await measured(seconds, async (at, isOver) => {
      const update = aStart(`plain-${process.pid}-${performance.now()}-${at}`)
      let { session } = update
      const content = JSON.stringify(session)
      await pool.query('insert into plain_session values ($1, 1, $2)', [session.id, content])
      await pool.query('insert into plain_run values ($1, $2)', [session.rootRunId, content])
      let n = 0
      while (!isOver()) {
        const turn = aTurnOf(session, ++n)
        const client = await pool.connect()
        const { id } = session
        await client.query('begin')
        await client.query({
          name: 'session',
          text: 'update plain_session set version = version + 1, content = $2 where id = $1',
          values: [id, JSON.stringify(turn.session)],
        })
        await client.query({
          name: 'run',
          text: 'update plain_run set content = $2 where id = $1',
          values: [session.rootRunId, JSON.stringify(turn.runs[0])],
        })
        for (const step of turn.steps)
          await client.query({
            name: 'step',
            text: 'insert into plain_step values ($1, $2, $3)',
            values: [id, step.ordinal, JSON.stringify(step)],
          })
        for (const event of turn.events)
          await client.query({
            name: 'event',
            text: 'insert into plain_event values ($1, $2, $3)',
            values: [id, event.seq, JSON.stringify(event)],
          })
        await client.query({
          name: 'call',
          text: 'insert into plain_call values ($1, $2, $3)',
          values: [id, `call_${n}`, JSON.stringify(turn.calls[0])],
        })
        await client.query('commit')
        client.release()
        session = turn.session
      }
      return n
    })
  } finally {
    await pool.end()
  }
}
