import { expect, test } from 'vitest'
import { digestOf } from '../../src/base/digest.ts'
import { hashKey, isWellFormedKey } from '../../src/base/api-key.ts'
import { digestOfDocument } from '../../src/spec/snapshot.ts'
import type { TaskRecord } from '../../src/spec/task.ts'
import { verifies } from '../api/verifies.ts'
import { openFixture, snapshotOf, versionOf } from './fixtures.ts'

const DESK = 'acme.refund-desk'

const bundleOf = (id: string, version = '1.0.0') => {
  const snapshot = snapshotOf(id, version)
  return { root: id, agents: [snapshot], documents: [], closureDigest: digestOf(snapshot.digest) }
}

test('publishes a bundle once, and deploys its root', async () => {
  const { operator, services } = openFixture()
  const bundle = bundleOf(DESK)
  const { agentId } = (await operator('POST /publish', { body: { bundle } })).published[0]!
  expect(await operator('POST /publish', { body: { bundle, deploy: true } })).toEqual({
    published: [
      {
        kind: 'Agent',
        id: DESK,
        version: '1.0.0',
        digest: bundle.agents[0]!.digest,
        already: true,
        agentId,
        agentVersionId: versionOf(DESK),
      },
    ],
    deployed: { agentId, agentVersionId: versionOf(DESK), from: null },
  })
  expect((await services.store.agent(agentId as never))!.deployedVersionId).toBe(versionOf(DESK))
})

test('refuses a snapshot whose digest is another, and keeps nothing', async () => {
  const { operatorRaw, services } = openFixture()
  const bundle = bundleOf(DESK)
  const forged = { ...bundle, agents: [{ ...bundle.agents[0]!, purpose: 'Something else.' }] }
  const response = await operatorRaw('POST /publish', { bundle: forged })
  expect([response.status, ((await response.json()) as { details: unknown }).details]).toEqual([
    400,
    [{ path: '/bundle/agents/0/digest', message: 'is not the digest of this snapshot' }],
  ])
  expect(await services.store.agents(services.workspace.id)).toEqual([])
})

test('a published version never changes', async () => {
  const { operator, operatorRaw } = openFixture()
  await operator('POST /publish', { body: { bundle: bundleOf(DESK) } })
  const snapshot = snapshotOf(DESK, '1.0.0', { purpose: 'Other.' })
  const response = await operatorRaw('POST /publish', { bundle: { ...bundleOf(DESK), agents: [snapshot] } })
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([409, 'version_exists'])
})

test('refuses a document whose digest is another', async () => {
  const { operatorRaw } = openFixture()
  const document = { kind: 'Tool', id: 'acme.refunds', version: '1.0.0', document: { spec: {} } } as const
  const good = { ...document, digest: digestOfDocument(document) }
  const send = async (member: object) =>
    (await operatorRaw('POST /publish', { bundle: { agents: [], documents: [member], closureDigest: digestOf('') } }))
      .status
  expect(await send({ ...good, document: { spec: { side_effect_class: 'read_only' } } })).toBe(400)
  expect(await send(good)).toBe(200)
})

test('a yanked version is never the newest, and comes back', async () => {
  const { operator, operatorRaw } = openFixture()
  for (const version of ['1.0.0', '1.1.0'])
    await operator('POST /publish', { body: { bundle: bundleOf(DESK, version) } })
  const yank = (yanked: boolean) =>
    operator('POST /yank', { body: { kind: 'Agent', id: DESK, version: '1.1.0', yanked } })
  expect(await yank(true)).toEqual({
    kind: 'Agent',
    id: DESK,
    version: '1.1.0',
    digest: snapshotOf(DESK, '1.1.0').digest,
    yanked: true,
  })
  expect(await operator('POST /deploy', { body: { agent: DESK } })).toMatchObject({ to: '1.0.0' })
  await yank(false)
  expect(await operator('POST /deploy', { body: { agent: DESK } })).toMatchObject({ to: '1.1.0' })
  const refused = async (body: object) => (await operatorRaw('POST /yank', body)).status
  expect(await refused({ kind: 'Agent', id: DESK, version: '9.9.9', yanked: true })).toBe(404)
  expect(await refused({ kind: 'Tool', id: DESK, version: '1.0.0', yanked: true })).toBe(404)
  expect(await refused({ kind: 'Thing', id: DESK, version: '1.0.0', yanked: true })).toBe(400)
})

test('no yanked version is deployed unasked: not by its number, not by a rollback, not by publishing it again', async () => {
  const { operator, operatorRaw, deploy } = openFixture()
  const agentId = await deploy(DESK, '1.0.0')
  for (const version of ['1.1.0', '1.2.0']) {
    await operator('POST /publish', { body: { bundle: bundleOf(DESK, version) } })
    await operator('POST /deploy', { body: { agent: DESK, version } })
  }
  await operator('POST /yank', { body: { kind: 'Agent', id: DESK, version: '1.1.0', yanked: true } })
  const code = async (path: 'POST /deploy' | 'POST /publish', body: object) =>
    ((await (await operatorRaw(path, body)).json()) as { code?: string }).code
  expect(await code('POST /deploy', { agent: DESK, version: '1.1.0' })).toBe('version_yanked')
  expect(await code('POST /publish', { bundle: bundleOf(DESK, '1.1.0'), deploy: true })).toBe('version_yanked')
  const rollback = () => operator('POST /deploy', { body: { agent: agentId, rollback: true } })
  expect(await rollback()).toMatchObject({ from: '1.2.0', to: '1.0.0' })
  expect(await rollback()).toMatchObject({ from: '1.0.0', to: '1.2.0' })
  await operator('POST /yank', { body: { kind: 'Agent', id: DESK, version: '1.0.0', yanked: true } })
  await expect(rollback()).rejects.toThrow('404')
  expect(await operator('POST /deploy', { body: { agent: DESK, version: '1.1.0', allowYanked: true } })).toMatchObject({
    to: '1.1.0',
  })
})

test('a yank has a reason of one line, which the refusal and the list of versions name', async () => {
  const { operator, operatorRaw } = openFixture()
  await operator('POST /publish', { body: { bundle: bundleOf(DESK, '1.0.0') } })
  const body = { kind: 'Agent', id: DESK, version: '1.0.0', yanked: true } as const
  const wrong = async (changes: object) => {
    const { details } = (await (await operatorRaw('POST /yank', { ...body, ...changes })).json()) as {
      details: { path: string; message: string }[]
    }
    return details.map(({ path, message }) => `${path} ${message}`)
  }
  expect(await wrong({ reason: 'a\nb' })).toEqual([
    '/reason must be one line of 1 to 300 characters without control characters',
  ])
  expect(await wrong({ reason: '\u001b[2J' })).toEqual([
    '/reason must be one line of 1 to 300 characters without control characters',
  ])
  expect(await wrong({ reason: 'x'.repeat(301) })).toEqual([
    '/reason must be one line of 1 to 300 characters without control characters',
  ])
  expect(await wrong({ reason: 3 })).toEqual(['/reason must be a string'])
  expect(await wrong({ reason: 'fine again', yanked: false })).toEqual([
    '/reason is for yanking, not for taking it back',
  ])
  await operator('POST /yank', { body: { ...body, reason: 'pays some orders twice' } })
  const refusal = async (path: 'POST /deploy' | 'POST /publish', given: object) =>
    ((await (await operatorRaw(path, given)).json()) as { error: string }).error
  const named = `${DESK}@1.0.0 is yanked (pays some orders twice), so it is not deployed unasked.`
  expect(await refusal('POST /deploy', { agent: DESK, version: '1.0.0' })).toContain(named)
  expect(await refusal('POST /publish', { bundle: bundleOf(DESK, '1.0.0'), deploy: true })).toContain(named)
  expect((await operator('GET /versions', { query: { agent: DESK } })).items).toMatchObject([
    { yanked: true, yankReason: 'pays some orders twice' },
  ])
  await operator('POST /yank', { body: { ...body, yanked: false } })
  expect((await operator('GET /versions', { query: { agent: DESK } })).items[0]).not.toHaveProperty('yankReason')
})

test('deploys a version, the newest, and the previous one again', async () => {
  const { operator, deploy, storeRun } = openFixture()
  const agentId = await deploy(DESK, '1.0.0')
  await storeRun(DESK)
  await storeRun(DESK, { status: 'Completed' })
  await operator('POST /publish', { body: { bundle: bundleOf(DESK, '1.1.0') } })
  expect(await operator('POST /deploy', { body: { agent: DESK, version: '1.1.0' } })).toEqual({
    agentId,
    from: '1.0.0',
    expiresAt: null,
    to: '1.1.0',
    agentVersionId: versionOf(DESK, '1.1.0'),
    runningOnOld: 1,
  })
  expect(await operator('POST /deploy', { body: { agent: agentId, rollback: true } })).toMatchObject({
    from: '1.1.0',
    to: '1.0.0',
  })
  await expect(operator('POST /deploy', { body: { agent: DESK, version: '9.9.9' } })).rejects.toThrow('404')
  await expect(operator('POST /deploy', { body: { agent: 'acme.none' } })).rejects.toThrow(
    'No such agent \\"acme.none\\".',
  )
})

test('shows agents, versions and snapshots', async () => {
  const { operator, deploy, keyFor } = openFixture()
  const agentId = await deploy(DESK, '1.0.0', { inputContract: { type: 'object' } })
  await keyFor(DESK)
  expect(await operator('GET /agents', { query: {} })).toEqual({
    items: [
      {
        agentId,
        name: DESK,
        deployed: { versionLabel: '1.0.0', agentVersionId: expect.any(String), expiresAt: null },
        triggers: ['api'],
        inputContract: { type: 'object' },
        model: 'scripted/script',
        tools: [],
      },
    ],
    total: 1,
  })
  const { items } = await operator('GET /versions', { query: { agent: DESK } })
  expect(items).toMatchObject([
    {
      versionLabel: '1.0.0',
      publishedBy: 'ana@acme.example',
      publishedAt: '2026-11-20T10:00:00.000Z',
      deployed: true,
      yanked: false,
    },
  ])
  const snapshot = snapshotOf(DESK, '1.0.0', { inputContract: { type: 'object' } })
  for (const query of [{ agent: DESK }, { agent: DESK, version: '1.0.0' }, { digest: snapshot.digest }] as Record<
    string,
    string
  >[])
    expect(await operator('GET /snapshot', { query })).toEqual(snapshot)
})

verifies('keys.prefix', async () => {
  const { operator, deploy, services } = openFixture()
  await deploy(DESK)
  await operator('POST /triggers', { body: { agent: DESK, type: 'api' } })
  const { secret, ...key } = await operator('POST /keys', { body: { agent: DESK, trigger: 'api' } })
  expect(secret).toMatch(/^svc_[0-9A-Za-z]{38}$/)
  expect(isWellFormedKey(secret)).toBe(true)
  const list = await operator('GET /keys', { query: {} })
  expect(list).toEqual({ items: [key], total: 1 })
  expect(JSON.stringify(await services.store.keys(services.workspace.id))).not.toContain(secret)
  expect(await services.store.keyByHash(hashKey(secret))).toMatchObject({ key: { id: key.keyId } })
})

verifies('keys.uploads-off', async () => {
  const { operator, deploy } = openFixture()
  await deploy(DESK)
  await operator('POST /triggers', { body: { agent: DESK, type: 'api' } })
  expect(await operator('POST /keys', { body: { agent: DESK, trigger: 'api' } })).toMatchObject({ allowUploads: false })
  expect(await operator('POST /keys', { body: { agent: DESK, trigger: 'api', allowUploads: true } })).toMatchObject({
    allowUploads: true,
  })
})

verifies('triggers.expose-on', async () => {
  const { operator, deploy } = openFixture()
  const agentId = await deploy(DESK)
  expect(await operator('POST /triggers', { body: { agent: DESK, type: 'api' } })).toEqual({
    triggerId: expect.any(String),
    agentId,
    agent: DESK,
    type: 'api',
    name: 'api',
    active: true,
    exposeTimeline: true,
    allowDelete: false,
    allowApprovals: false,
    allowOlderVersions: false,
    allowIps: [],
    ratePerMinute: null,
    ratePerDay: null,
    maxConcurrentRuns: null,
    cron: null,
    timeZone: null,
    input: null,
    inputProblem: null,
    inputProblemCode: null,
    refused: null,
    next: [],
    createdAt: '2026-11-20T10:00:00.000Z',
  })
})

test('names triggers after their type unless told, and changes and deletes them', async () => {
  const { operator, deploy, keyFor, api } = openFixture()
  await deploy(DESK)
  const { secret: key, triggerId } = await keyFor(DESK)
  const second = await operator('POST /triggers', {
    body: { agent: DESK, type: 'api', ratePerMinute: 5, allowIps: ['10.0.0.0/8'] },
  })
  expect(second).toMatchObject({ name: 'api-2', ratePerMinute: 5, allowIps: ['10.0.0.0/8'] })
  await expect(operator('POST /triggers', { body: { agent: DESK, type: 'api', name: 'api-2' } })).rejects.toThrow('400')
  expect(
    await operator('PATCH /triggers/:id', {
      id: second.triggerId,
      body: { ratePerMinute: null, maxConcurrentRuns: 2, exposeTimeline: false },
    }),
  ).toMatchObject({
    ratePerMinute: null,
    maxConcurrentRuns: 2,
    exposeTimeline: false,
    allowIps: ['10.0.0.0/8'],
  })
  expect(await operator('DELETE /triggers/:id', { id: triggerId })).toEqual({ triggerId })
  expect((await operator('GET /triggers', { query: { agent: DESK } })).items.map(({ name }) => name)).toEqual(['api-2'])
  expect((await api('/v1/runs/x', { key })).status).toBe(401)
})

test.each([
  [{ type: 'webhook' }, '/type', 'must be api or schedule'],
  [{ type: 'schedule' }, '/cron', 'is required for a schedule'],
  [{ type: 'api', cron: '* * * * *' }, '/cron', 'belongs to a schedule trigger'],
  [{ type: 'api', allowIps: ['10.0.0.0/8', 'ten'] }, '/allowIps/1', 'must be an address or a CIDR'],
  [{ type: 'api', ratePerMinute: 0 }, '/ratePerMinute', 'must be an integer from 1'],
])('refuses the trigger %j', async (given, path, message) => {
  const { operatorRaw, deploy } = openFixture()
  await deploy(DESK)
  const response = await operatorRaw('POST /triggers', { agent: DESK, ...given })
  expect([response.status, ((await response.json()) as { details: unknown }).details]).toEqual([
    400,
    [{ path, message }],
  ])
})

test('a schedule needs a cron line that has a next time', async () => {
  const { operator, operatorRaw, deploy } = openFixture()
  await deploy(DESK)
  const body = { agent: DESK, type: 'schedule', cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' }
  expect(await operator('POST /triggers', { body })).toMatchObject({
    type: 'schedule',
    name: 'schedule',
    cron: '0 9 * * 1-5',
    timeZone: 'Europe/Berlin',
  })
  for (const broken of [{ cron: 'every day' }, { timeZone: 'Mars/Base' }])
    expect((await operatorRaw('POST /triggers', { ...body, ...broken })).status).toBe(400)
})

test('lists runs and finds one by the end of its id', async () => {
  const { operator, deploy, storeRun, clock } = openFixture()
  await deploy(DESK)
  const done = await storeRun(DESK, { status: 'Completed' })
  clock.wind(1000)
  const waiting = await storeRun(DESK, { status: 'WaitingForResponse' })
  const ids = async (query: Record<string, string>) =>
    (await operator('GET /runs', { query })).items.map(({ runId }) => runId)
  expect(await ids({})).toEqual([waiting.runId, done.runId])
  expect(await ids({ waiting: 'true' })).toEqual([waiting.runId])
  expect(await ids({ status: 'Completed,Failed' })).toEqual([done.runId])
  expect(await ids({ since: '2026-11-20T10:00:00.500Z' })).toEqual([waiting.runId])
  expect(await ids({ session: done.sessionId })).toEqual([done.runId])
  expect(await ids({ ending: done.runId.slice(-8).toUpperCase() })).toEqual([done.runId])
  expect((await operator('GET /runs', { query: { ending: waiting.runId.slice(-6) } })).items).toEqual([
    {
      runId: waiting.runId,
      sessionId: waiting.sessionId,
      agent: DESK,
      versionLabel: '1.0.0',
      status: 'WaitingForResponse',
      depth: 0,
      parentRunId: null,
      startedAt: '2026-11-20T10:00:01.000Z',
      finishedAt: null,
      totalTokensUsed: 42,
      trigger: 'operator',
      waitingOn: 'reply',
    },
  ])
  await expect(operator('GET /runs', { query: { ending: 'xyz' } })).rejects.toThrow('400')
})

test('starts, cancels and answers with the operator’s authority', async () => {
  const { operator, deploy, storeRun, asked } = openFixture()
  await deploy(DESK)
  await operator('POST /runs', { body: { agent: DESK, input: { a: 1 } } })
  expect(asked.starts).toMatchObject([
    {
      principal: { type: 'operator', id: 'ana@acme.example' },
      triggerType: 'operator',
      triggerId: null,
      input: { a: 1 },
    },
  ])
  const { runId } = await storeRun(DESK)
  expect(await operator('POST /runs/:id/cancel', { id: runId, body: {} })).toEqual({
    runId,
    before: 'Running',
    after: 'Cancelled',
  })
  await operator('POST /runs/:id/messages', { id: runId, body: { runId, text: 'Yes', as: 'ana@acme.example' } })
  expect(asked.answers.map(({ answer, hidden }) => [answer.by, hidden])).toEqual([
    [
      { type: 'operator', id: 'ana@acme.example', proof: 'local', workspaceId: expect.any(String), roles: [] },
      undefined,
    ],
  ])
})

test('nobody answers under another name by typing it', async () => {
  const { operator, deploy, storeRun, asked } = openFixture()
  await deploy(DESK)
  const { runId } = await storeRun(DESK)
  expect(
    await operator('POST /runs/:id/messages', { id: runId, body: { text: 'Yes', as: 'bo@acme.example' } }),
  ).toEqual({
    status: 'Running',
    error: 'This approver may not decide this task: the request is not by bo@acme.example.',
    code: 'not_an_approver',
  })
  expect(asked.answers).toEqual([])
})

test('the inbox holds tasks by deadline, then replies, and tells why', async () => {
  const fixture = openFixture()
  const { operator, deploy, storeRun, services } = fixture
  await deploy(DESK)
  const { runId, sessionId } = await storeRun(DESK, { status: 'WaitingForHITL' })
  const reply = await storeRun(DESK, { status: 'WaitingForResponse' })
  const tree = (await services.store.load(sessionId as never))!
  const base = {
    sessionId: tree.session.id,
    runId,
    status: 'pending' as const,
    votes: [],
    createdAt: services.clock.now(),
  }
  const approval: TaskRecord = {
    ...base,
    id: services.ids.next(),
    kind: 'approval',
    title: 'Approve acme.refunds',
    reason: 'Refunds above EUR 100 need a person',
    tool: { name: 'refunds', ref: 'acme.refunds', version: '1.0.0', side_effect_class: 'irreversible_action' },
    arguments: { amount: 180 },
    argumentsDigest: digestOf('x'),
    policies: [
      {
        id: 'acme.refund-limit',
        version: '1.0.0',
        decision: 'require_approval',
        matched: true,
        reason: null,
        authority_ref: null,
        condition: 'args.amount > 100 (180)',
      },
    ],
    approvalsRequired: 2,
    votes: [{ approver: 'key:k', approved: true, at: 0 }],
    onTimeout: 'deny',
    expiresAt: services.clock.now() + 1_800_000,
  }
  const review: TaskRecord = {
    ...base,
    id: services.ids.next(),
    kind: 'anomaly_review',
    title: 'What became of acme.refunds?',
    options: [{ id: 'skip', label: 'Skip' }],
    context: { attempt: 1 },
    worker: 'desk:4711',
  }
  await services.store.save({
    session: tree.session,
    runs: [],
    steps: [],
    closedSteps: [],
    tasks: [review, approval],
    calls: [],
    events: [],
    setTimers: [],
    clearTimers: [],
    spends: [],
    busy: false,
  })

  const inbox = await operator('GET /tasks', { query: {} })
  expect(inbox.total).toBe(3)
  expect(inbox.items.map(({ userTaskId, kind }) => [userTaskId, kind])).toEqual([
    [approval.id, 'approval'],
    [review.id, 'anomaly_review'],
    [reply.runId, 'reply'],
  ])
  // Which process sent a call of unknown outcome is told to operators.
  expect(inbox.items[1]!.task!['context']).toEqual({ attempt: 1, worker: 'desk:4711' })
  const { task, ...item } = inbox.items[0]!
  expect(task).toMatchObject({ user_task_id: approval.id, completable_via: ['api', 'operator'] })
  expect(item).toEqual({
    userTaskId: approval.id,
    kind: 'approval',
    runId,
    sessionId,
    agent: DESK,
    tool: 'acme.refunds',
    args: { amount: 180 },
    argsDigest: digestOf('x'),
    why: 'acme.refund-limit@1.0.0: args.amount > 100 (180)',
    reason: 'Refunds above EUR 100 need a person',
    approvals: { have: 1, need: 2, by: ['key:k'] },
    createdAt: '2026-11-20T10:00:00.000Z',
    expiresAt: '2026-11-20T10:30:00.000Z',
    onTimeout: 'deny',
    apiCompletable: true,
    status: 'pending',
    people: {
      you: 'operator ana@acme.example',
      startedBy: 'operator unknown',
      versionLabel: '1.0.0',
      standing: 'no_proof',
      candidates: [],
      votes: [{ by: 'a deleted key', approved: true }],
    },
  })
  const kinds = async (query: Record<string, string>) =>
    (await operator('GET /tasks', { query })).items.map(({ kind }) => kind)
  expect(await kinds({ operator: 'true' })).toEqual(['anomaly_review'])
  expect(await kinds({ kind: 'reply' })).toEqual(['reply'])
  expect(await kinds({ kind: 'approval,anomaly_review' })).toEqual(['approval', 'anomaly_review'])
  expect(await kinds({ agent: DESK, ending: approval.id.slice(-8) })).toEqual(['approval'])
  expect((await operator('GET /tasks/:id', { id: approval.id })).userTaskId).toBe(approval.id)
  expect((await operator('GET /tasks/:id', { id: reply.runId })).kind).toBe('reply')
  await expect(operator('GET /tasks/:id', { id: runId })).rejects.toThrow('No such user task.')
})

test('tells who answers', async () => {
  const { operator } = openFixture()
  expect(await operator('GET /status', { query: {} })).toEqual({
    version: '0.1.0',
    pid: process.pid,
    url: null,
    uploadUrl: null,
    consoleUrl: null,
    workspace: 'acme',
    operator: 'ana@acme.example',
    roles: [],
    signIn: null,
    isDevelopment: false,
    storage: { store: 'sqlite', storeBytes: null, files: 'directory', freeBytes: null },
    startedAt: '2026-11-20T10:00:00.000Z',
    clockAheadMs: 0,
  })
})
