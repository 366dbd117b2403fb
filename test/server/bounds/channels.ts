/** The ways in which a value of somebody else reaches the server. Each sends one value to an agent with one schema. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject, JsonValue } from '../../../src/base/json/json.ts'
import { sealSet } from '../../../src/policy/policy-set.ts'
import type { AgentSnapshot, BoundTool, ScriptTurn } from '../../../src/spec/snapshot.ts'
import { startFakeMcp } from '../../fakes/mcp.ts'
import { snapshotOf } from '../fixtures.ts'
import { startServed, type ServedServer } from './start-served.ts'
import { removeDirectory } from '../../remove-directory.ts'

export const CHANNELS = ['start', 'message', 'http', 'command', 'mcp-input', 'mcp-output'] as const
export type Channel = (typeof CHANNELS)[number]

export interface HostileWorld {
  readonly served: ServedServer
  /**
   * Deploys an agent and prepares what comes before the value. The function that it returns sends the value, and resolves when
   * the run has ended or the value was refused.
   */
  prepare(channel: Channel, schema: JsonObject, value: JsonValue): Promise<() => Promise<void>>
  close(): Promise<void>
}

interface DeployedAgent {
  readonly agentId: string
  readonly secret: string
}

const boundTool = (wire: string, extra: Partial<BoundTool>): BoundTool => ({
  wire,
  id: `acme.${wire}`,
  version: '1.0.0',
  description: wire,
  inputSchema: { type: 'object' },
  inputSchemas: [{ type: 'object' }],
  labels: {},
  sideEffectClass: 'read_only',
  ...extra,
})

export async function openHostileWorld(): Promise<HostileWorld> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'))
  const file = join(directory, 'result.json')
  let result: JsonValue = {}
  const mcp = await startFakeMcp('stateless', [])
  const http = createServer((request, response) => {
    request.resume().once('end', () => response.end(JSON.stringify(result)))
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const served = await startServed({
    network: { allowed_hosts: ['127.0.0.1'] },
    tools: {
      'acme.http': { http: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/` } },
      'acme.command': { command: ['cat', file] },
      'acme.pay': { mock: [{ result: { paid: true } }] },
    },
  })
  let agents = 0

  async function deploy(
    script: readonly ScriptTurn[],
    tools: readonly BoundTool[],
    extra: Partial<AgentSnapshot> = {},
  ) {
    const id = `acme.agent${++agents}`
    const snapshot = snapshotOf(id, '1.0.0', {
      model: { provider: 'scripted', name: 'script', script },
      tools,
      policies: sealSet({
        v: 1,
        compiler: 'test',
        agent: id,
        entries: [],
        index: Object.fromEntries(tools.map(({ wire }) => [wire, []])),
        inherited: [],
      }),
      ...extra,
    })
    await served.ask('POST /publish', {
      bundle: { root: id, agents: [snapshot], documents: [], closureDigest: snapshot.digest },
      deploy: true,
    })
    await served.ask('POST /triggers', { agent: id, type: 'api' })
    return served.ask('POST /keys', { agent: id, trigger: 'api' })
  }

  const post = async ({ secret }: DeployedAgent, path: string, body: string): Promise<Record<string, string>> => {
    const response = await fetch(served.url + path, {
      method: 'POST',
      headers: { 'x-api-key': secret, 'content-type': 'application/json' },
      body,
    })
    return (await response.json()) as Record<string, string>
  }

  /** Follows a run until its stream ends or has the text. */
  async function follow({ secret }: DeployedAgent, runId: string, text?: RegExp): Promise<string | undefined> {
    const response = await fetch(`${served.url}/v1/runs/${runId}/stream`, { headers: { 'x-api-key': secret } })
    const decoder = new TextDecoder()
    let tail = ''
    for await (const chunk of response.body!) {
      if (text === undefined) continue
      tail = (tail + decoder.decode(chunk, { stream: true })).slice(-20_000)
      const found = text.exec(tail)
      if (found) return found[1]
    }
    return undefined
  }

  async function start(agent: DeployedAgent, input: JsonObject): Promise<string | undefined> {
    return (await post(agent, `/v1/agents/${agent.agentId}/runs`, JSON.stringify({ input })))['runId']
  }

  const calling = (name: string, args: JsonObject = {}): ScriptTurn[] => [
    { call: { tool: name, arguments: args } },
    { say: 'ok' },
  ]

  return {
    served,
    async prepare(channel, schema, value) {
      const run = async (agent: DeployedAgent, input: JsonObject = {}): Promise<void> => {
        const runId = await start(agent, input)
        if (runId !== undefined) await follow(agent, runId)
      }
      if (channel === 'start') {
        const agent = await deploy([{ say: 'ok' }], [], { inputContract: schema })
        return () => run(agent, { a: value })
      }
      if (channel === 'message') {
        const pay = boundTool('pay', { sideEffectClass: 'irreversible_action', inputSchemas: [schema] })
        const agent = await deploy(calling('pay'), [pay])
        const runId = (await start(agent, {}))!
        const userTaskId = await follow(agent, runId, /"user_task_id":"([^"]+)"/)
        const metadata = { 'svc/arguments': { a: value } }
        const body = JSON.stringify({ runId, userTaskId, approved: true, metadata })
        return async () => {
          await post(agent, `/v1/runs/${runId}/messages`, body)
          await post(agent, `/v1/runs/${runId}/cancel`, '{}')
          await follow(agent, runId)
        }
      }
      if (channel === 'http' || channel === 'command') {
        result = { a: value }
        if (channel === 'command') writeFileSync(file, JSON.stringify(result))
        const agent = await deploy(calling(channel), [boundTool(channel, { outputSchema: schema })])
        return () => run(agent)
      }
      const isInput = channel === 'mcp-input'
      mcp.tools = [
        {
          name: 'get',
          ...(isInput ? { inputSchema: schema } : { outputSchema: schema }),
          answer: () => ({ structuredContent: isInput ? {} : { a: value }, content: [] }),
        },
      ]
      const get = boundTool('get', { mcp: { server: 'far', tool: 'get' }, ...(!isInput && { outputSchema: schema }) })
      const agent = await deploy(calling('get', isInput ? { a: '${input.a}' } : {}), [get], {
        mcpServers: [{ name: 'far', url: mcp.url }],
      })
      return () => run(agent, isInput ? { a: value } : {})
    },
    async close() {
      await served.close()
      await mcp.close()
      http.close()
      removeDirectory(directory)
    },
  }
}
