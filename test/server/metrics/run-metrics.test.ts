/** What Prometheus is told of runs, by a server that ran them. */
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { openServer } from '../../../src/server/open.ts'
import type { Conversation } from '../../../src/spec/api.ts'
import { caller, closing, options, publishDesk, scripted, taskOf } from '../running.ts'

const ORDER = { order: 'A-1042', amount: 180 }

/** A server that completed one run with an approval, and has another that waits for one. */
async function serveRuns() {
  const server = await openServer({ ...options(), internal: { host: '127.0.0.1', port: 0 } })
  closing(() => server.close())
  const { agentId, secret } = await publishDesk(server.operator)
  const { post, get, until } = caller(server.url, secret)
  const start = async () => {
    const { runId } = (await post<{ runId: string }>(`/v1/agents/${agentId}/runs`, { input: ORDER })).body
    return { runId, cursor: await until(runId, 'engine.session.paused') }
  }
  const { runId, cursor } = await start()
  const userTaskId = taskOf(await get<Conversation>(`/v1/runs/${runId}/conversation`))
  await post(`/v1/runs/${runId}/messages`, { runId, userTaskId, approved: true })
  await until(runId, 'engine.session.completed', cursor)
  await start()
  return async () => await (await fetch(`${server.internalUrl}/metrics`)).text()
}

test('runs, completions, calls, decisions and tasks are counted once they are stored', async () => {
  const read = await serveRuns()
  const counted = (await read()).split('\n').filter((line) => /^svc_\w+_total/.test(line))
  expect(counted).toEqual([
    'svc_runs_started_total{agent="acme.refund-desk"} 2',
    'svc_runs_ended_total{agent="acme.refund-desk",status="completed",error=""} 1',
    'svc_model_tokens_total{provider="scripted",model="script",kind="input"} 204',
    'svc_model_tokens_total{provider="scripted",model="script",kind="output"} 36',
    'svc_tool_calls_total{ref="acme.orders.lookup",class="read_only",outcome="executed"} 2',
    'svc_tool_calls_total{ref="acme.refunds",class="irreversible_action",outcome="executed"} 1',
    'svc_policy_decisions_total{decision="allow"} 2',
    'svc_policy_decisions_total{decision="require_approval"} 2',
    'svc_tasks_total{kind="approval",event="created"} 2',
    'svc_tasks_total{kind="approval",event="completed"} 1',
  ])
})

test('how long runs, completions, calls, people and saves took is told as histograms', async () => {
  const read = await serveRuns()
  const counts = (await read())
    .split('\n')
    .filter((line) => line.includes('_seconds_count') && !line.includes('commit'))
  expect(counts).toEqual([
    'svc_run_duration_seconds_count{status="completed"} 1',
    'svc_model_request_duration_seconds_count{provider="scripted",model="script",outcome="completed"} 5',
    'svc_tool_call_duration_seconds_count{ref="acme.orders.lookup",outcome="executed"} 2',
    'svc_tool_call_duration_seconds_count{ref="acme.refunds",outcome="executed"} 1',
    'svc_task_wait_seconds_count{kind="approval"} 1',
  ])
})

test('a tool that a model made up is no label', async () => {
  const server = await openServer({ ...options(), internal: { host: '127.0.0.1', port: 0 } })
  closing(() => server.close())
  const made = scripted([{ call: { tool: 'call_jane_doe', arguments: {} } }, { say: 'No such tool.' }])
  const { agentId, secret } = await publishDesk(server.operator, {}, made)
  const { post, until } = caller(server.url, secret)
  const { runId } = (await post<{ runId: string }>(`/v1/agents/${agentId}/runs`, { input: {} })).body
  await until(runId, 'engine.session.completed')
  const text = await (await fetch(`${server.internalUrl}/metrics`)).text()
  expect(text).toContain('svc_tool_calls_total{ref="unknown",class="",outcome="invalid"} 1')
  expect(text).not.toContain('jane')
})

const READ = `
import json, sys
from prometheus_client.parser import text_string_to_metric_families
print(json.dumps({f.name: f.type for f in text_string_to_metric_families(sys.stdin.read())}))
`
const python = ['python3', '/usr/bin/python3'].find(
  (each) => spawnSync(each, ['-c', 'import prometheus_client']).status === 0,
)

test.skipIf(python === undefined)(
  'the parser of Prometheus reads all of it (needs python3-prometheus-client)',
  async () => {
    const read = await serveRuns()
    const { stdout, stderr } = spawnSync(python!, ['-c', READ], { input: await read(), encoding: 'utf8' })
    expect(stderr).toBe('')
    const types = JSON.parse(stdout) as Record<string, string>
    expect(types).toMatchObject({
      svc_runs_started: 'counter',
      svc_commit_seconds: 'histogram',
      svc_model_request_duration_seconds: 'histogram',
      svc_tasks_open: 'gauge',
      svc_timers_late: 'gauge',
      process_start_time_seconds: 'gauge',
      process_cpu_seconds: 'counter',
    })
    expect(Object.values(types).filter((type) => type === 'unknown')).toEqual([])
  },
)
