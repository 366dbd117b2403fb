import { expect } from 'vitest'
import type { Conversation, RunSummary, TimelineItem } from '../../src/spec/api.ts'
import { redactEvent } from '../../src/server/view/redact.ts'
import type { StoredEvent } from '../../src/spec/event.ts'
import type { RunId, SessionId } from '../../src/base/ids.ts'
import { verifies } from '../api/verifies.ts'
import { openFixture } from './fixtures.ts'

const DESK = 'acme.refund-desk'
const AT = '2026-11-20T10:00:00.000Z'

const run = (id: string, parentRunId: string | null): RunSummary => ({
  id,
  sessionId: 's',
  agentId: 'a',
  agentVersionId: 'v',
  parentRunId,
  depth: parentRunId === null ? 0 : 1,
  status: 'Completed',
  totalTokensUsed: 1,
  output: { refunded: 180 },
  error: 'none',
  startedAt: AT,
  finishedAt: AT,
  triggerType: 'api',
  triggeredBy: null,
  triggerId: null,
  triggerName: null,
  input: { order: 'A-1042' },
  llmModel: 'script',
  agentName: DESK,
  versionLabel: '1.0.0',
})

const item = (
  ordinal: number,
  runId: string,
  type: string,
  content: TimelineItem['content'] = { session_id: 's', n: ordinal },
): TimelineItem => ({
  runId,
  id: `i${ordinal}`,
  sequence: ordinal,
  ordinal,
  type,
  content,
  tokensUsed: null,
  error: null,
  startedAt: AT,
  finishedAt: AT,
})

const whole: Conversation = {
  session: {
    id: 's',
    tenantId: 't',
    agentId: 'a',
    agentVersionId: 'v',
    llmModel: 'script',
    triggerType: 'api',
    triggeredBy: null,
    triggerId: null,
    triggerName: null,
    status: 'Completed',
    totalTokensUsed: 2,
    output: { refunded: 180 },
    error: null,
    startedAt: AT,
    finishedAt: AT,
    input: { order: 'A-1042' },
    startContext: { version: '1.0.0' },
  },
  runs: [run('root', null), run('child', 'root')],
  items: [
    item(1, 'root', 'Reasoning', {
      session_id: 's',
      run_id: 'r',
      tenant_id: 't',
      agent_id: 'a',
      agent_version_id: 'v',
      event_id: 'e',
      text: 'x',
      nested: { run_id: 'kept' },
    }),
    item(2, 'root', 'UserTaskReq', { user_task_id: 'u' }),
    item(3, 'child', 'RunCompleted'),
    item(4, 'root', 'RunCompleted'),
    item(5, 'root', 'SessionCompleted', ['session_id']),
  ],
}

async function read(exposeTimeline: boolean, query = ''): Promise<Conversation> {
  const fixture = openFixture()
  await fixture.deploy(DESK)
  const { secret: key, triggerId } = await fixture.keyFor(DESK, { trigger: { exposeTimeline } })
  const { runId } = await fixture.storeRun(DESK, { triggerId })
  fixture.doors.conversation = async () => ({ ...whole, isRootRun: (id) => id === 'root' })
  return (await (await fixture.api(`/v1/runs/${runId}/conversation${query}`, { key })).json()) as Conversation
}

verifies('conversation.redacted', async () => {
  const cleared = { input: null, output: null, error: null }
  expect(await read(false)).toEqual({
    session: { ...whole.session, input: null, startContext: null },
    runs: whole.runs.map((each) => ({ ...each, ...cleared })),
    items: [whole.items[3], whole.items[4]],
    nextCursor: null,
  })
})

verifies('conversation.full-by-default', async () => {
  expect(await read(true)).toEqual({ ...whole, nextCursor: null })
  expect(await read(true, '?stepContent=full')).toEqual({ ...whole, nextCursor: null })
})

verifies('conversation.slim', async () => {
  const { items } = await read(true, '?stepContent=slim')
  expect(items.map(({ content }) => content)).toEqual([
    { text: 'x', nested: { run_id: 'kept' } },
    { user_task_id: 'u' },
    { n: 3 },
    { n: 4 },
    ['session_id'],
  ])
})

verifies('stream.redacted', () => {
  const event = (kind: StoredEvent['kind'], subject: string, runId = 'root'): StoredEvent => ({
    sessionId: 's' as SessionId,
    seq: 1,
    runId: runId as RunId,
    ts: 0,
    kind,
    subject,
    data: { runId, status: 'Completed', output: 'secret', error: 'secret' },
  })
  const kept = [
    event('session', 'engine.session.started'),
    event('run', 'engine.run.completed'),
    event('run', 'engine.run.completed', 'child'),
    event('run', 'engine.subagent.spawned'),
    event('run', 'engine.subagent.completed'),
    event('step', 'engine.step.completed'),
    event('user_task', 'engine.user_task.created'),
    event('aitl', 'engine.aitl.requested'),
  ].map((each) => redactEvent(each, 'root'))
  expect(kept).toEqual([
    event('session', 'engine.session.started'),
    event('run', 'engine.run.completed'),
    { ...event('run', 'engine.run.completed', 'child'), data: { runId: 'child', status: 'Completed' } },
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
