/** What operators do is recorded, each act with its change. Source: docs/design/audit.md#acts */
import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { silentLog } from '../../src/base/log.ts'
import { operations } from '../../src/operations/operations.ts'
import type { ActView } from '../../src/operations/acts.ts'
import type { OperatorList } from '../../src/operations/schema.ts'
import { sealSet } from '../../src/policy/policy-set.ts'
import { createRefusedActs } from '../../src/server/runtime/refused-acts.ts'
import {
  ACTS_BY_KIND,
  ROUTES_WITHOUT_ACT,
  type ActKind,
  type ActRecord,
  type NewAct,
} from '../../src/spec/people/act.ts'
import type { ChainedRow } from '../../src/spec/chain/session-link.ts'
import { createSetupVerifier } from '../../src/spec/chain/setup-row.ts'
import type { Blobs } from '../../src/blobs/blobs.ts'
import type { Operation } from '../../src/operations/operation.ts'
import type { PolicyEntry } from '../../src/spec/policy-set.ts'
import { writeTrust } from '../../src/spec/trust/statement.ts'
import { readTrustDocument } from '../../src/spec/trust/trust-document.ts'
import { envelopeOf, newKeyPair, trustValue } from '../spec/trust/makers.ts'
import { anAct } from '../store/act-contract.ts'
import { aConsoleSession, anUpdate, aTask } from '../store/makers.ts'
import { waitUntil } from '../wait-until.ts'
import { openFixture, snapshotOf } from './fixtures.ts'
import { DESK, policiesFor, running, scripted, tool } from './running.ts'

const PAY = tool('acme.pay', {
  sideEffectClass: 'non_idempotent_write',
  labels: {
    'svc/effect-key': 'pay:{args.order}',
    'svc/undone-by': 'acme.pay_back',
    'svc/undo-arguments': '{"receipt": "{result.receipt}"}',
  },
})
const BACK = tool('acme.pay_back', { sideEffectClass: 'irreversible_action' })
const PAYING = scripted(
  [{ call: { tool: 'pay', arguments: { order: '${input.order}' } } }, { fail: { message: 'No more.', status: 401 } }],
  [PAY, BACK],
)

const openHouse = () =>
  running({
    snapshot: PAYING,
    config: {
      tools: {
        'acme.pay': { mock: [{ result: { receipt: 'R-1' } }] },
        'acme.pay_back': { mock: [{ result: 'back' }] },
      },
      notify: { channels: { ops: { command: ['true'] } }, routes: [{ events: ['run.failed'], to: ['ops'] }] },
    },
  })
type House = Awaited<ReturnType<typeof openHouse>>

const readActs = async (house: Pick<House, 'operator'>, query = ''): Promise<readonly ActView[]> =>
  ((await house.operator(`GET /acts${query}`)) as unknown as OperatorList<ActView>).items

/** An agent whose first call waits for an approval. */
const asking = (version: string) => {
  const { digest: _, ...snapshot } = scripted([{ call: { tool: 'pay_back', arguments: {} } }, { say: 'ok' }], [BACK])
  const agent = snapshotOf('acme.asks', version, { ...snapshot, id: 'acme.asks', version })
  return { root: 'acme.asks', agents: [agent], closureDigest: digestOf(`asks ${version}`) }
}

/** `test/console/passkeys.test.ts` tries them with a device. */
const NEED_A_BROWSER = new Set(['POST /passkeys', 'POST /passkeys/:id/remove'])

const aWorker = {
  id: 'host:w1',
  version: '0.1.0',
  startedAt: 0,
  url: null,
  peerUrl: null,
  isDraining: false,
  ports: [],
  addresses: [],
}

function memoryBlobs(): Blobs {
  const sizes = new Map<string, number>()
  return {
    put: async (key: string, bytes: Uint8Array) => void sizes.set(key, bytes.length),
    head: async (key: string) => (sizes.has(key) ? { sizeBytes: sizes.get(key)! } : undefined),
    move: async (from: string, to: string) => void sizes.set(to, sizes.get(from)!),
    presignPut: async () => ({ url: 'http://127.0.0.1:1', headers: {} }),
  } as unknown as Blobs
}

/** Routes that change something, from the table of operations. */
const CHANGING = Object.entries(operations as Readonly<Record<string, Operation>>)
  .filter(([route, { isQuestion }]) => !route.startsWith('GET ') && isQuestion !== true)
  .map(([route]) => route)
const ROUTES_OF_KINDS = Object.values(ACTS_BY_KIND).flatMap(({ routes }) => routes as readonly string[])

test('each operator route that changes something is named by a kind of act, or says why it writes none', () => {
  const named = [...new Set([...ROUTES_OF_KINDS, ...Object.keys(ROUTES_WITHOUT_ACT)])]
  expect(named.sort()).toEqual([...CHANGING].sort())
})

test('each operator route that changes something writes an act of a kind that names it', async () => {
  const house = await openHouse()
  const walked = new Set<string>()
  /** Asks a route, and expects acts of its kinds, and of no others. */
  const walk = async <T = Record<string, string>>(route: string, body?: unknown, id = '', query = ''): Promise<T> => {
    const [last] = await readActs(house)
    const answer = await house.operator(route.replace(':id', id) + query, body)
    const made = (await readActs(house)).filter(({ seq, by }) => seq > (last?.seq ?? 0) && by !== 'server:')
    const kinds = [...new Set(made.map(({ kind }) => kind))]
    expect([
      route,
      kinds.map((kind) => [kind, (ACTS_BY_KIND[kind].routes as readonly string[]).includes(route)]),
    ]).toEqual([route, kinds.map((kind) => [kind, true])])
    expect([route, made.length > 0]).toEqual([route, true])
    walked.add(route)
    return answer as T
  }
  const { digest: _, ...paying } = PAYING
  const standing: PolicyEntry = {
    id: digestOf('small'),
    policy: 'acme.small',
    version: '1.0.0',
    effect: 'grant',
    obligations: { standing: 'small' },
    reason: 'small',
    origin: [{ kind: 'binding', doc: 'acme.small@1.0.0' }],
  }
  const next = snapshotOf(DESK, '1.1.0', {
    ...paying,
    version: '1.1.0',
    policies: sealSet({ ...policiesFor('pay', 'pay_back'), entries: [standing] }),
  })
  const bundle = { root: DESK, agents: [next], documents: [], closureDigest: digestOf('next') }
  await walk('POST /publish', { bundle, message: 'better' })
  await walk('POST /deploy', { agent: DESK, version: '1.1.0' })
  await walk('POST /deploy', { agent: DESK, rollback: true })
  const root = newKeyPair()
  const value = trustValue({ root })
  const envelope = envelopeOf(writeTrust(value, readTrustDocument(value)), root)
  await walk('POST /trust', { envelope, message: 'begin' })
  await walk('POST /yank', { kind: 'Agent', id: DESK, version: '1.1.0', yanked: true, reason: 'worse' })
  await walk('POST /yank', { kind: 'Agent', id: DESK, version: '1.1.0', yanked: false })
  const { triggerId } = await walk('POST /triggers', {
    agent: DESK,
    type: 'schedule',
    cron: '0 0 1 1 *',
    name: 'yearly',
  })
  await walk('PATCH /triggers/:id', { active: false }, triggerId)
  await walk('DELETE /triggers/:id', undefined, triggerId)
  const { keyId } = await walk('POST /keys', { agent: DESK, trigger: 'api', name: 'shop' })
  await walk('POST /keys/:id/revoke', undefined, keyId)
  const eva = await walk('POST /operator-keys', { email: 'eva@acme.example', roles: ['refunds'] })
  await walk('POST /keys/:id/revoke', undefined, eva['keyId'])

  const { runId } = await walk('POST /runs', { agent: DESK, input: { order: 'A-1' } })
  await house.until(runId!, 'engine.session.failed')
  const plan = (await house.operator(`GET /runs/${runId}/undo`)) as unknown as OperatorList<{ toolCallId: string }>
  const calls = [{ runId, toolCallId: plan.items[0]!.toolCallId }]
  const undo = await walk('POST /runs/:id/undo', { calls, reason: 'a wrong order' }, runId)
  await house.until(undo['runId']!, 'engine.user_task.created')
  const waiting = (await house.operator(`GET /runs/${runId}/undo`)) as unknown as OperatorList<{
    undoneBy: { userTaskId: string }
  }>
  const { userTaskId } = waiting.items[0]!.undoneBy
  await house.operator(`POST /tasks/${userTaskId}/claim`, {})
  await walk('POST /runs/:id/messages', { userTaskId, approved: true }, undo['runId'])
  await house.until(undo['runId']!, 'engine.run.completed')
  await walk('POST /effects/release', { key: 'pay:A-1', reason: 'sent back' })
  const second = await walk('POST /runs', { agent: DESK, input: { order: 'A-2' } })
  const failedAt = await house.until(second['runId']!, 'engine.session.failed')
  await walk('POST /runs/:id/resume', { reason: 'the model is back' }, second['runId'])
  await house.until(second['runId']!, 'engine.session.failed', failedAt)
  await walk('POST /runs/fork', { runs: [second['runId']], at: 2 })
  const retry = await walk('POST /runs/:id/retry', undefined, second['runId'])
  await walk('POST /runs/:id/cancel', { reason: 'enough' }, retry['runId'])
  const { sessionId } = second
  await walk('PATCH /sessions/:id', { title: 'Second', legalHold: false }, sessionId)
  await walk('DELETE /sessions/:id', undefined, sessionId)
  await walk('POST /policies/revoke', { name: 'small', reason: 'no more' })
  await walk('POST /policies/revoke', { name: 'small', reason: 'again', undo: true })
  await walk('POST /notices/test', { channel: 'ops' })
  const [notice] = ((await house.operator('GET /notices')) as unknown as OperatorList<{ noticeId: string }>).items
  await walk('POST /notices/:id/retry', undefined, notice!.noticeId)
  await walk('POST /publish', { bundle: { ...bundle, ...asking('1.0.0') }, deploy: true })
  const waits = await walk('POST /runs', { agent: 'acme.asks', input: {} })
  await waitUntil(async () => {
    const { status } = (await house.operator(`GET /v1/runs/${waits['runId']}`)) as { status: string }
    return status === 'WaitingForHITL'
  })
  await walk('POST /publish', { bundle: { ...bundle, ...asking('1.1.0') } })
  await walk('POST /runs/:id/migrate', { version: '1.1.0', reason: 'better' }, waits['runId'])
  await walk('POST /pauses', { kind: 'all', paused: true, reason: 'stop' })
  await walk('POST /pauses', { kind: 'all', paused: false })
  await walk('POST /restored/release', { happened: ['pay:A-3'] })
  const setup = createSetupVerifier()
  const readAll = async <T>(path: string) =>
    ((await house.operator(`GET ${path}?take=500`)) as unknown as OperatorList<T>).items
  for (const act of await readAll<ActRecord>('/acts/records')) setup.add(act)
  const rows = await readAll<ChainedRow>('/audit/setup')
  expect([setup.check(rows), setup.checked]).toEqual([undefined, rows.length])

  // What these ask of the engine or the storage does not matter: the act is recorded before or with it.
  const fixture = openFixture({ blobs: memoryBlobs() })
  fixture.services.serverState.consoleUrl = 'http://127.0.0.1:1'
  await fixture.deploy('acme.desk')
  const { store, workspace } = fixture.services
  const record = async (route: string, kind: ActKind, ask: () => Promise<unknown>): Promise<void> => {
    await ask()
    const [act] = (await store.acts({ workspaceId: workspace.id }, { skip: 0, take: 1 })).items
    expect([route, act?.kind, act?.by]).toEqual([route, kind, 'operator:ana@acme.example'])
    expect(ACTS_BY_KIND[kind].routes).toContain(route)
    walked.add(route)
  }
  const post = (line: string, body?: unknown) => fixture.operatorRaw(line, body)
  await record('POST /console/codes', 'console.invited', () => post('POST /console/codes'))
  const browser = aConsoleSession('a', { workspaceId: workspace.id })
  await store.createConsoleSession(browser)
  await record('POST /console/sessions/:id/end', 'console.signed_out', () =>
    post(`POST /console/sessions/${browser.id}/end`),
  )
  await store.createConsoleSession(aConsoleSession('b', { workspaceId: workspace.id }))
  await record('POST /console/sign-out', 'person.signed_out', () =>
    post('POST /console/sign-out', { operator: 'b@acme.example' }),
  )
  await store.report(aWorker)
  await record('POST /workers/:id/drain', 'worker.drained', () => post('POST /workers/w1/drain'))
  await record('POST /backup', 'store.exported', async () => (await post('POST /backup')).body?.cancel())
  await record('POST /files', 'file.kept', () => post('POST /files?filename=a.txt&mediaType=text/plain', 'text'))
  const { runId: taskRun } = await fixture.storeRun('acme.desk')
  const run = (await store.run(taskRun))!
  const session = (await store.session(run.sessionId))!
  const task = { ...aTask(session, 'probe'), runId: run.id }
  await store.save({ ...anUpdate({ ...session }), tasks: [task] })
  await record('POST /tasks/:id/probe', 'task.probed', () => post(`POST /tasks/${task.id}/probe`, {}))

  const unwalked = CHANGING.filter(
    (route) => !walked.has(route) && !(route in ROUTES_WITHOUT_ACT) && !NEED_A_BROWSER.has(route),
  )
  expect(unwalked).toEqual([])
})

test('an act says who, when, why, from where, what, and what it was before and after', async () => {
  const house = await openHouse()
  const { triggerId } = (await house.operator('POST /triggers', { agent: DESK, type: 'api', name: 'shop' })) as {
    triggerId: string
  }
  await house.operator(`PATCH /triggers/${triggerId}`, { ratePerDay: 7 })
  const [act] = await readActs(house, '?kind=trigger&by=ana@acme.example')
  const { seq, at, hash, ...said } = act!
  expect(said).toEqual({
    kind: 'trigger.changed',
    words: 'changed',
    by: 'operator:ana@acme.example',
    proof: 'local',
    keyId: null,
    channel: 'local',
    address: null,
    subject: `trigger "shop" of ${DESK}`,
    sessionId: null,
    runId: null,
    reason: null,
    before: { ratePerDay: null },
    after: { ratePerDay: 7 },
    refused: null,
    count: 1,
  })
  expect([seq > 1, Date.parse(at) > 0, hash]).toEqual([true, true, expect.stringMatching(/^[0-9a-f]{64}$/)])
})

test('no act holds the secret that it made', async () => {
  const house = await openHouse()
  const { secret } = (await house.operator('POST /operator-keys', { email: 'eva@acme.example' })) as { secret: string }
  expect(JSON.stringify(await readActs(house))).not.toContain(secret)
})

test('a kind that is misspelt is refused, and names the kinds', async () => {
  const house = await openHouse()
  await expect(house.operator('GET /acts?kind=key.maked')).rejects.toThrow('must name kinds of acts: version.published')
})

test('an act that is refused is recorded with the code, and repetitions are counted', async () => {
  const acts: NewAct[] = []
  const timers: (() => void)[] = []
  const refused = createRefusedActs({
    store: { addAct: async (act) => void acts.push(act) },
    log: silentLog,
    timers: { set: (callback) => timers.push(callback), clear: () => {} },
  })
  const act = anAct('POST /deploy', { refused: 'version_yanked' })
  for (let each = 0; each < 50; each++) await refused.record(act)
  expect(acts).toEqual([act])
  timers[0]!()
  await refused.close()
  expect(acts).toEqual([act, { ...act, counted: 49 }])
})

test('refusals of many kinds fill no disk: beyond a number an hour they are one record a minute', async () => {
  const acts: NewAct[] = []
  const refused = createRefusedActs({ store: { addAct: async (act) => void acts.push(act) }, log: silentLog })
  for (let each = 0; each < 10_000; each++) await refused.record(anAct(`${each}`, { refused: 'sign_in_refused' }))
  await refused.close()
  expect(acts.length).toBe(121)
  expect(acts.at(-1)).toMatchObject({ by: 'unknown:', subject: 'of many', counted: 9880 })
})

test('a credential that is not valid leaves a record of its refusal', async () => {
  const fixture = openFixture()
  const { createOperatorApp } = await import('../../src/server/operator-app.ts')
  const headers = { 'x-operator-key': `svc_${'0'.repeat(40)}` }
  const app = createOperatorApp(fixture.services)
  expect((await app.fetch(new Request('http://operator.svc/status', { headers }))).status).toBe(401)
  const { items } = await fixture.services.store.acts(
    { workspaceId: fixture.services.workspace.id },
    { skip: 0, take: 9 },
  )
  expect(items).toMatchObject([{ kind: 'access.used', by: 'unknown:', refused: 'invalid_operator_key', counted: 1 }])
})

test('a server records what its configuration changes, at its start', async () => {
  const house = await openHouse()
  const [act] = await readActs(house, '?kind=server')
  expect(act).toMatchObject({ by: 'server:', channel: 'server', subject: 'its settings, for the first time' })
})
