/** The real process dies while it undoes what a run made: each booking is cancelled once, the newest first. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { afterEach, expect, test } from 'vitest'
import type { InboxItem } from '../../src/operations/tasks.ts'
import type { UndoPlanView } from '../../src/operations/steering.ts'
import { deploy, serve, serveHere, svc, svcJson, writeProject } from './binary.ts'
import { isLong } from '../cases.ts'
import { customer, ENDED } from './customer.ts'

let closers: (() => Promise<unknown> | void)[] = []
afterEach(async () => {
  for (const close of closers.reverse()) await close()
  closers = []
})

const document = (kind: string, name: string, rest: string): string => `
apiVersion: svc/v1
kind: ${kind}
metadata: { name: ${name}, namespace: acme, version: 1.0.0${rest}`

/** An agent that books two rooms and then fails, and a hotel that keeps the book of what arrived. */
async function openHotel(classOfCancel = 'non_idempotent_write') {
  const cancelled: { readonly room: number; readonly key: string }[] = []
  const hotel = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const call = JSON.parse(text) as { tool: string; idempotency_key: string; arguments: { room: number } }
      const { room } = call.arguments
      if (call.tool === 'acme.cancel') cancelled.push({ room, key: call.idempotency_key })
      response.end(JSON.stringify({ room }))
    })
  })
  await new Promise<void>((ready) => hotel.listen(0, '127.0.0.1', ready))
  const { port } = hotel.address() as AddressInfo
  const project = writeProject({
    'svc.config.yaml': `
workspace: hotel
tools:
  acme.*: { http: { url: 'http://127.0.0.1:${port}' }, timeout: 5s }
`,
    'bundle.yaml': document('Bundle', 'hotel', ' }\nspec: { root: travel.yaml }\n'),
    'book.yaml': document(
      'Tool',
      'book',
      `
  , labels: { svc/undone-by: acme.cancel, svc/undo-arguments: '{"room": "{result.room}"}' } }
spec: { description: Books a room., side_effect_class: non_idempotent_write }
`,
    ),
    'cancel.yaml': document(
      'Tool',
      'cancel',
      ` }\nspec: { description: Cancels a booking., side_effect_class: ${classOfCancel} }\n`,
    ),
    'travel.yaml': document(
      'Agent',
      'travel',
      ` }
spec:
  purpose: Books rooms.
  instructions: { text: You book rooms. }
  model: { provider: scripted, name: travel, provider_options: { script: travel.script.yaml } }
  tools: [{ ref: acme.book@^1 }, { ref: acme.cancel@^1 }]
`,
    ),
    'travel.script.yaml': `
- call: { tool: book, arguments: { room: 1 } }
- call: { tool: book, arguments: { room: 2 } }
- fail: { message: No more., status: 401 }
`,
  })
  closers.push(async () => {
    hotel.closeAllConnections()
    await new Promise((closed) => hotel.close(closed))
    project.remove()
  })
  const access = await deploy(project, 'acme.travel')
  const at = { cwd: project.directory }
  const run = (...args: string[]) => svc([...args, '--data', project.data], at)
  return {
    cancelled,
    undo: (runId: string) => run('runs', 'undo', runId, '--yes', '--reason', 'the trip was off'),
    plan: (runId: string) => svcJson<UndoPlanView>(['runs', 'undo', runId, '--plan', '--data', project.data], at),
    serve: (failpoint?: string) =>
      serve(['--data', project.data], { ...at, ...(failpoint !== undefined && { failpoint }) }),
    serveHere: () => serveHere(['--data', project.data], at),
    access,
    /** An operator tells the truth about every call of unknown outcome. */
    async review() {
      const { items } = await svcJson<{ items: InboxItem[] }>(['inbox', '--operator', '--data', project.data], at)
      for (const { userTaskId, args } of items) {
        const { room } = args as { room: number }
        const option = cancelled.some((each) => each.room === room) ? 'happened' : 'skip'
        await run('answer', userTaskId, '--option', option)
      }
    },
  }
}

/** A run that booked two rooms is undone by a server that dies at a place, and by the one after it. */
async function undoAcrossDeath(failpoint: string, classOfCancel?: string) {
  const hotel = await openHotel(classOfCancel)
  const first = await hotel.serveHere()
  const api = customer(first, hotel.access)
  const runId = await api.start(undefined, {})
  while (!ENDED.has((await api.run(runId)).status)) await after(20)
  await first.stop('SIGTERM')

  const mortal = await hotel.serve(failpoint)
  const { code, stderr } = await hotel.undo(runId)
  expect(await mortal.died).toBe('SIGKILL')
  expect([code, stderr]).toEqual([8, expect.stringContaining(`The server ended while run ${runId} was being undone`)])

  const server = await hotel.serveHere()
  for (;;) {
    const { items } = await hotel.plan(runId)
    if (items.every(({ state }) => state === 'undone')) break
    await hotel.review()
    // What is under way is refused, and what is open is undone.
    await hotel.undo(runId)
    await after(50)
  }
  expect((await customer(server, hotel.access).run(runId)).status).toBe('Failed')
  expect(await server.stop('SIGTERM')).toBe(0)
  return hotel.cancelled
}

/** The first commit is the request. `SVC_TEST_LONG=1` dies before and after each. */
const PLACES = isLong
  ? [
      ...[1, 2, 3, 4, 5].flatMap((pass) => [`commit.before:${pass}`, `commit.after:${pass}`]),
      ...[1, 2].flatMap((pass) => [`effect.afterDispatchRecord:${pass}`, `effect.afterReply:${pass}`]),
    ]
  : ['commit.after:1', 'effect.afterDispatchRecord:1', 'effect.afterReply:1', 'effect.afterReply:2']

test.each(PLACES)(
  'a server that dies at %s cancels each booking once, the newest first',
  async (failpoint) => {
    const cancelled = await undoAcrossDeath(failpoint)
    expect(cancelled.map(({ room }) => room)).toEqual([2, 1])
  },
  180_000,
)

test('a cancellation that calls itself read-only happens twice: the book of the hotel would tell', async () => {
  const cancelled = await undoAcrossDeath('effect.afterReply:1', 'read_only')
  expect(cancelled.map(({ room }) => room)).toEqual([2, 2, 1])
}, 180_000)
