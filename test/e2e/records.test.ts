import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { caller, type Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'
import { svcJson } from './binary.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const uuid = expect.stringMatching(UUID)
const time = expect.stringMatching(TIME)
const IDS = ['session_id', 'run_id', 'tenant_id', 'agent_id', 'agent_version_id', 'event_id']

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk()
})
afterAll(() => clerk.close())

describe('the conversation', () => {
  test('has the session, its runs and its timeline with every field of the document', async () => {
    const runId = await clerk.begin('hello')
    const { status, body } = await clerk.api.get(`/v1/runs/${runId}/conversation`)
    expect(status).toBe(200)
    const { sessionId } = (await clerk.api.get(`/v1/runs/${runId}`)).body
    const started = {
      agentId: clerk.agentId,
      agentVersionId: uuid,
      llmModel: 'clerk',
      triggerType: 'api',
      triggeredBy: uuid,
      triggerId: clerk.access.triggerId,
      triggerName: 'api',
      status: 'Completed',
      totalTokensUsed: 10,
      output: 'Hello.',
      error: null,
      startedAt: time,
      finishedAt: time,
      input: { case: 'hello' },
    }
    expect(body.session).toEqual({
      id: sessionId,
      tenantId: uuid,
      ...started,
      startContext: {
        userInput: { case: 'hello' },
        version: '1.0.0',
        llmModel: 'clerk',
        limits: { max_loop_iterations: 6 },
        instructionsDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        bundleDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
    })
    expect(body.runs).toEqual([
      { id: runId, sessionId, ...started, parentRunId: null, depth: 0, agentName: 'acme.clerk', versionLabel: '1.0.0' },
    ])
    expect(body.items.map(({ ordinal, sequence, type }: Json) => [ordinal, sequence, type])).toEqual([
      [1, 1, 'UserMessage'],
      [2, 2, 'Reasoning'],
      [3, 3, 'Output'],
      [4, 4, 'RunCompleted'],
      [5, 5, 'SessionCompleted'],
    ])
    expect(body.items[1]).toEqual({
      runId,
      id: uuid,
      sequence: 2,
      ordinal: 2,
      type: 'Reasoning',
      content: {
        session_id: sessionId,
        run_id: runId,
        tenant_id: body.session.tenantId,
        agent_id: clerk.agentId,
        agent_version_id: body.session.agentVersionId,
        event_id: uuid,
        step_kind: 'Reasoning',
        text: 'Hello.',
        model: 'clerk',
        provider: 'scripted',
        finish_reason: 'stop',
        usage: { input_tokens: 7, output_tokens: 3 },
        tool_calls: [],
      },
      tokensUsed: 10,
      error: null,
      startedAt: time,
      finishedAt: time,
    })
  })

  test('slim leaves out the ids that every step repeats, and nothing else', async () => {
    const runId = await clerk.begin('sign')
    const at = `/v1/runs/${runId}/conversation`
    const full = (await clerk.api.get(at)).body
    expect((await clerk.api.get(`${at}?stepContent=full`)).body).toEqual(full)
    for (const item of full.items) for (const id of IDS) expect(item.content[id]).toMatch(UUID)
    const without = full.items.map((item: Json) => ({
      ...item,
      content: Object.fromEntries(Object.entries(item.content).filter(([key]) => !IDS.includes(key))),
    }))
    expect((await clerk.api.get(`${at}?stepContent=slim`)).body).toEqual({ ...full, items: without })
    const wrong = await clerk.api.get(`${at}?stepContent=short`)
    expect([wrong.status, wrong.body.code]).toEqual([400, 'validation_failed'])
    expect((await clerk.api.get(`${at}?unknown=1`)).status).toBe(200)
  })

  test('orders the steps of all runs by time; sequence counts per run, ordinal over all', async () => {
    const runId = await clerk.begin('child')
    await clerk.api.send(runId, { userTaskId: (await clerk.api.task(runId)).user_task_id })
    await clerk.api.settled(runId)
    const { runs, items, session } = (await clerk.api.get(`/v1/runs/${runId}/conversation`)).body
    const child = runs[1].id
    expect(items.map(({ ordinal }: Json) => ordinal)).toEqual(items.map((_: Json, at: number) => at + 1))
    for (const id of [runId, child]) {
      const own = items.filter((item: Json) => item.runId === id).map(({ sequence }: Json) => sequence)
      expect(own).toEqual(own.toSorted((a: number, b: number) => a - b))
      expect(new Set(own).size).toBe(own.length)
    }
    const starts = items.map(({ startedAt }: Json) => startedAt)
    expect(starts).toEqual(starts.toSorted())
    expect(items.map((item: Json) => `${item.runId === child ? '  ' : ''}${item.type}`)).toEqual([
      'UserMessage',
      'Reasoning',
      'PolicyDecision',
      'SubAgentCall',
      '  UserMessage',
      '  Reasoning',
      '  PolicyDecision',
      '  UserTaskReq',
      '  UserTaskRes',
      '  ToolCall',
      '  ToolResult',
      '  Reasoning',
      '  Output',
      '  RunCompleted',
      'SubAgentResult',
      'Reasoning',
      'Output',
      'RunCompleted',
      'SessionCompleted',
    ])
    expect(session.totalTokensUsed).toBe(runs[0].totalTokensUsed + runs[1].totalTokensUsed)
    // Asked for by the child's id, it is the session's conversation too.
    const ofChild = (await clerk.api.get(`/v1/runs/${child}/conversation`)).body
    expect(ofChild).toEqual({ session, runs, items, nextCursor: null })
  })

  test('of a run in progress has no completion rows', async () => {
    const items = await clerk.api.items(await clerk.begin('sign'))
    expect(items.filter(({ type }) => type.endsWith('Completed'))).toEqual([])
  })
})

describe('the sessions of an agent', () => {
  let api: typeof clerk.api
  let list: (query?: string) => Promise<Json>
  let ids: string[]
  beforeAll(async () => {
    // A data directory's first sessions are known only to a fresh agent.
    const at = ['--data', clerk.project.data]
    const where = { cwd: clerk.project.directory }
    await svcJson(['publish', 'agents/helper.yaml', '--deploy', ...at], where)
    const { agentId } = await svcJson<{ agentId: string }>([
      'triggers',
      'create',
      'acme.helper',
      '--type',
      'api',
      '--name',
      'one',
      ...at,
    ])
    await svcJson(['triggers', 'create', 'acme.helper', '--type', 'api', '--name', 'two', ...at])
    const key = async (trigger: string) =>
      (await svcJson<{ secret: string }>(['keys', 'create', '--agent', 'acme.helper', '--trigger', trigger, ...at]))
        .secret
    api = caller(clerk.server.url, await key('one'))
    const other = caller(clerk.server.url, await key('two'))
    list = async (query = '') => (await api.get(`/v1/agents/${agentId}/sessions${query}`)).body
    expect(await list()).toEqual({ items: [], total: 0, nextCursor: null })
    ids = []
    for (const [at, by] of [api, api, other, api, other].entries()) {
      const runId = await by.start(agentId, { message: `no ${at}` })
      await by.settled(runId)
      ids.unshift(runId)
    }
  })

  test('are listed newest first, of all its triggers, with every field of the document', async () => {
    const { items, total } = await list()
    expect(total).toBe(5)
    expect(items.map((item: Json) => item.rootRunId)).toEqual(ids)
    expect(items[0]).toEqual({
      id: uuid,
      tenantId: uuid,
      agentId: uuid,
      agentVersionId: uuid,
      llmModel: 'helper',
      triggerType: 'api',
      triggeredBy: uuid,
      triggerId: uuid,
      triggerName: 'two',
      status: 'Failed',
      totalTokensUsed: 0,
      output: null,
      error: expect.any(String),
      input: { message: 'no 4' },
      startContext: expect.objectContaining({ userInput: { message: 'no 4' } }),
      rootRunId: ids[0],
      entryRunId: ids[0],
      runCount: 1,
      startedAt: time,
      finishedAt: time,
    })
  })

  test('are paged by skip and take; total counts all', async () => {
    const page = async (query: string) => {
      const { items, total } = await list(query)
      return [items.map((item: Json) => ids.indexOf(item.rootRunId)), total]
    }
    expect(await page('?take=2')).toEqual([[0, 1], 5])
    expect(await page('?skip=2&take=2')).toEqual([[2, 3], 5])
    expect(await page('?skip=4')).toEqual([[4], 5])
    expect(await page('?skip=5')).toEqual([[], 5])
    expect(await page('?take=500&unknown=x')).toEqual([[0, 1, 2, 3, 4], 5])
  })

  test('are filtered by version and by status', async () => {
    const version = (await list()).items[0].agentVersionId
    expect((await list(`?versionId=${version}`)).total).toBe(5)
    expect(await list('?versionId=01a1fc2b-1d46-7001-8f16-ba4d0d7ecc03')).toEqual({
      items: [],
      total: 0,
      nextCursor: null,
    })
    expect((await list('?status=Failed')).total).toBe(5)
    expect((await list('?status=Completed')).total).toBe(0)
  })

  test.each(['skip=-1', 'skip=x', 'skip=1.5', 'take=0', 'take=501', 'take=', 'take=1e2'])(
    '%s is 400',
    async (query) => {
      const { agentId } = (await list()).items[0]
      const { status, body } = await api.get(`/v1/agents/${agentId}/sessions?${query}`)
      expect([status, body.code]).toEqual([400, 'validation_failed'])
      expect(body.details[0].path).toBe(`/${query.split('=')[0]}`)
    },
  )

  test('count the runs of their sub-agents', async () => {
    const runId = await clerk.begin('child')
    const { items } = (await clerk.api.get(`/v1/agents/${clerk.agentId}/sessions?take=1`)).body
    expect(items[0]).toMatchObject({
      rootRunId: runId,
      entryRunId: runId,
      runCount: 2,
      status: 'WaitingForHITL',
      finishedAt: null,
    })
  })
})
