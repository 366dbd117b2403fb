/**
 * What the parts allow with no product around them: a route, a SQLite file with every step written down, and the same model
 * client. The commits of one turn of the event loop share one wait for the disk.
 * Arguments: directory, http `node` or `h3`, model address or `none`.
 */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { connectSqlite } from '../../src/store/sqlite/database/connect.ts'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { systemClock } from '../../src/base/clock.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { createTransport } from '../../src/base/net/transport.ts'
import { createOpenaiProvider } from '../../src/providers/openai/openai.ts'
import type { CompletionRequest, ModelMessage } from '../../src/providers/provider.ts'
import { subject } from './subject.ts'

const [directory, http, model] = process.argv.slice(2) as [string, 'node' | 'h3', string]
const me = subject()
const db = connectSqlite(join(directory, 'ceiling.db'), {})
db.pragma('journal_mode = wal')
db.pragma('synchronous = full')
db.pragma('wal_autocheckpoint = 4000')
db.exec(`
  create table if not exists run (id text primary key, tools integer, status text, messages text) without rowid;
  create table if not exists step (run text, n integer, content text, primary key (run, n)) without rowid;
  create table if not exists event (run text, n integer, data text, primary key (run, n)) without rowid;
  create index if not exists open_run on run (status) where status <> 'done';`)
const put = db.prepare('insert or replace into run values (?, ?, ?, ?)')
const addStep = db.prepare('insert into step values (?, ?, ?)')
const addEvent = db.prepare('insert into event values (?, ?, ?)')
const begin = db.prepare('begin immediate')
const commit = db.prepare('commit')

interface Run {
  readonly id: string
  readonly tools: number
  messages: ModelMessage[]
  n: number
}

let waiting: { work: () => void; done: () => void }[] = []
const save = (run: Run, status: string, steps: readonly object[]): Promise<void> =>
  new Promise((done) => {
    const work = (): void => {
      put.run(run.id, run.tools, status, JSON.stringify(run.messages))
      for (const step of steps) {
        const text = JSON.stringify(step)
        addStep.run(run.id, ++run.n, text)
        addEvent.run(run.id, run.n, text)
      }
    }
    me.saved()
    if (waiting.push({ work, done }) === 1) setImmediate(flush)
  })
function flush(): void {
  const group = waiting
  waiting = []
  begin.run()
  for (const each of group) each.work()
  commit.run()
  for (const each of group) each.done()
}

const provider =
  model === 'none'
    ? undefined
    : createOpenaiProvider({
        baseUrl: model,
        fetch: createTransport({ keepAlive: true, plainBodies: true }),
        vendor: 'compatible',
        redactor: createRedactor(),
        clock: systemClock,
      })
const TOOLS = [{ name: 'look', description: 'Looks.', schema: { type: 'object' } }]

async function ask(run: Run): Promise<Extract<ModelMessage, { role: 'assistant' }>> {
  const calls = run.messages.filter((message) => message.role === 'assistant').length
  if (!provider) {
    const made = calls < run.tools ? [{ id: `c${calls}`, name: 'look', arguments: { n: calls } }] : []
    return { role: 'assistant', text: made.length > 0 ? '' : 'ok', calls: made }
  }
  const request = {
    model: { provider: 'fake', name: `tools-${run.tools}` },
    system: 'Answer.',
    messages: run.messages,
    tools: TOOLS,
    run: { id: run.id, input: {}, turn: calls + 1, results: [] },
  } as unknown as CompletionRequest
  for await (const part of provider.complete(request, new AbortController().signal)) {
    if (part.type === 'end') return { role: 'assistant', text: part.completion.text, calls: part.completion.calls }
  }
  throw new Error('no completion')
}

async function drive(run: Run): Promise<void> {
  for (;;) {
    const answer = await ask(run)
    run.messages = [...run.messages, answer]
    const [call] = answer.calls
    if (!call) {
      await save(run, 'done', [answer])
      me.ended(run.id)
      return
    }
    await save(run, 'running', [answer, { call }])
    run.messages = [
      ...run.messages,
      { role: 'tool', callId: call.id, name: call.name, content: '{"seen":1}', isError: false },
    ]
    await save(run, 'running', [{ result: call.id }])
  }
}

async function start(text: string): Promise<object> {
  const { input, tools } = JSON.parse(text) as { input: object; tools: number }
  const message: ModelMessage = { role: 'user', parts: [{ type: 'text', text: JSON.stringify(input) }] }
  const run: Run = { id: randomUUID(), tools, messages: [message], n: 0 }
  await save(run, 'running', [message])
  void drive(run)
  return { runId: run.id, sessionId: run.id, status: 'Running' }
}

const bodyOf = (request: IncomingMessage): Promise<string> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks).toString()))
  })

const app = new H3().post('/runs', async (event) => {
  const made = await start(await bodyOf(event.runtime!.node!.req as IncomingMessage))
  return Response.json(made, { status: 202 })
})
const server = createServer(
  http === 'h3'
    ? toNodeHandler(app)
    : (request, response) => {
        void bodyOf(request)
          .then(start)
          .then((made) => response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify(made)))
      },
)
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const open = db.prepare("select id, tools, messages from run where status <> 'done'").all() as {
    id: string
    tools: number
    messages: string
  }[]
  const lastOf = db.prepare('select max(n) as n from step where run = ?')
  for (const { id, tools, messages } of open) {
    const { n } = lastOf.get(id) as { n: number }
    const run: Run = { id, tools, messages: JSON.parse(messages) as ModelMessage[], n }
    // What the process before this one had asked for and never heard of is written down before it is asked for again.
    void save(run, 'running', [{ lost: n }]).then(() => drive(run))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  me.ready({ url, headers: {}, starts: { 0: '/runs', 1: '/runs', 3: '/runs' } })
})
