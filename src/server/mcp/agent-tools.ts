/**
 * Deployed agents as MCP tools. A call starts a run through the very route of the HTTP interface, so that the key, the input contract,
 * limits and idempotency are those of a start; nothing here answers a task. Source: docs/design/http.md#agents-as-mcp-tools
 */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { cutText } from '../../base/text/cut-text.ts'
import { compareText } from '../../base/values/compare-text.ts'
import { digestOf } from '../../base/digest.ts'
import { fail, isFailure } from '../../base/failure.ts'
import type { VersionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { isExternalModel } from '../../spec/external.ts'
import { intactVersion } from '../../store/altered-versions.ts'
import type { AgentRow, AgentVersion } from '../../store/version-rows.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { ErrorBody, RunStatusBody } from '../../spec/api.ts'
import type { AuthenticatedCaller, IdentifyCaller } from '../auth/auth.ts'
import { innerCall } from '../http/inner-call.ts'
import { toProblem } from '../http/problem.ts'
import type { HttpReply } from '../http/reply.ts'
import type { HttpRequestContext, RouteHandler } from '../http/route.ts'
import { getRun } from '../routes/runs.ts'
import { startRun } from '../routes/start-run.ts'
import { snapshotLoader } from '../runtime/authority.ts'
import type { ServerServices } from '../runtime/services.ts'
import { textInMeta } from './call-meta.ts'
import { textResult, type McpAddress, type McpCall, type McpTools } from './mcp-tools.ts'
import { failureText, personAddressOf, resultSchema, RUN_TOOL, toCallResult } from './run-result.ts'

/** A run that lasts longer is asked for again: clients give up after 60 s. */
const WAIT_SECONDS = 25
/** `_meta` of a call: calls with the same text start one run. */
const IDEMPOTENCY_META = 'svc/idempotency-key'
/** Longest name that vendors of models take for a tool. */
const MAX_NAME = 64

/** A deployed agent by the name of its tool. */
interface NamedAgent {
  readonly tool: string
  readonly agent: AgentRow
}

export function createAgentTools(
  services: ServerServices,
  call: HttpRequestContext,
  caller: AuthenticatedCaller,
): McpTools {
  // The caller is known; the routes need not look the key up again.
  const identify: IdentifyCaller = async () => caller
  const { store, workspace } = services

  async function listNamed(): Promise<readonly NamedAgent[]> {
    const { principal } = caller
    const all = await store.agents(workspace.id)
    const named = nameTools(all.filter(({ deployedVersionId }) => deployedVersionId !== null))
    return principal.type === 'operator' ? named : named.filter(({ agent }) => agent.id === principal.agentId)
  }

  /** The deployed version; undefined for an agent that stands for a client, which nothing starts. */
  async function startableOf(
    { agent: { deployedVersionId } }: NamedAgent,
    read: (id: VersionId) => Promise<AgentVersion | undefined>,
  ): Promise<AgentSnapshot | undefined> {
    const version = deployedVersionId === null ? undefined : await read(deployedVersionId)
    return version && !isExternalModel(version.snapshot.model) ? version.snapshot : undefined
  }

  /** Asks a route of the HTTP interface as the same caller. @param given of a POST */
  async function ask(
    handle: RouteHandler,
    params: Record<string, string>,
    given?: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  ): Promise<HttpReply> {
    try {
      return await handle(innerCall(call, params, given, { prefer: `wait=${WAIT_SECONDS}` }))
    } catch (error) {
      if (!isFailure(error)) throw error
      return toProblem(error, call.requestId, services.redactor)
    }
  }

  function toResult({ status, json }: HttpReply, { opensAddresses }: McpCall): CallToolResult | McpAddress {
    if (status >= 400) return textResult(failureText(json as ErrorBody), true)
    const run = json as RunStatusBody
    const { consoleUrl } = services.serverState
    const address = opensAddresses ? personAddressOf(run, consoleUrl) : undefined
    return address ?? toCallResult(run, consoleUrl)
  }

  const readRun = async (runId: string, asked: McpCall): Promise<CallToolResult | McpAddress> =>
    toResult(await ask(getRun(services, identify), { runId }), asked)

  return {
    async list() {
      const tools: Tool[] = []
      for (const named of await listNamed()) {
        const snapshot = await startableOf(named, (id) => intactVersion(store, id))
        if (snapshot) tools.push(await describeAgent(named.tool, snapshot, services))
      }
      return [...tools, DESCRIBED_RUN]
    },
    async call(asked) {
      if (asked.name === RUN_TOOL) {
        const { runId } = asked.arguments
        return typeof runId === 'string' ? await readRun(runId, asked) : textResult('runId is missing.', true)
      }
      const named = (await listNamed()).find(({ tool }) => tool === asked.name)
      if (!named || !(await startableOf(named, (id) => store.version(id))))
        throw fail('not_found', { what: `tool ${asked.name}` })
      // The client asks again after it has shown the address: the run goes on, and no other begins.
      if (asked.state !== undefined) return await readRun(asked.state, asked)
      const key = textInMeta(asked.meta, IDEMPOTENCY_META)
      const trace = asked.meta['traceparent']
      const headers = {
        // Any text may be a key here, and few texts may be a header.
        ...(key !== undefined && { 'idempotency-key': digestOf(key) }),
        ...(typeof trace === 'string' && /^[\w-]{1,100}$/.test(trace) && { traceparent: trace }),
      }
      const body = JSON.stringify({ input: asked.arguments })
      return toResult(await ask(startRun(services, identify), { agentId: named.agent.id }, { headers, body }), asked)
    },
  }
}

/** Names that every client and vendor takes; two agents whose names become one get their digest behind it. */
function nameTools(agents: readonly AgentRow[]): readonly NamedAgent[] {
  const plain = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_')
  const count = new Map<string, number>()
  for (const { name } of agents) count.set(plain(name), (count.get(plain(name)) ?? 0) + 1)
  return agents
    .toSorted((a, b) => compareText(a.name, b.name))
    .map((agent) => {
      const tool = plain(agent.name)
      if (count.get(tool) === 1 && tool.length <= MAX_NAME && tool !== RUN_TOOL) return { tool, agent }
      return { tool: `${cutText(tool, MAX_NAME - 9).text}_${digestOf(agent.name).slice(-8)}`, agent }
    })
}

async function describeAgent(name: string, snapshot: AgentSnapshot, services: ServerServices): Promise<Tool> {
  const { inputContract, output } = snapshot
  const { isReadOnly, isDestructive } = await readReach(snapshot, services)
  return {
    name,
    title: snapshot.id,
    description: snapshot.purpose,
    inputSchema: { ...(inputContract as JsonObject | undefined), type: 'object' },
    outputSchema: resultSchema(output.format === 'json' ? output.schema : { type: 'string' }),
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: isDestructive,
      idempotentHint: false,
      openWorldHint: true,
    },
  }
}

const DESCRIBED_RUN: Tool = {
  name: RUN_TOOL,
  title: 'How a run goes',
  description: `Tells how a run goes that was begun before; waits up to ${WAIT_SECONDS} seconds for its end. It answers no question of the run.`,
  inputSchema: { type: 'object', properties: { runId: { type: 'string' } }, required: ['runId'] },
  outputSchema: resultSchema(undefined),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
}

/** What the calls of an agent and of those below it may do. A tool without a class may do anything. */
async function readReach(
  root: AgentSnapshot,
  services: ServerServices,
): Promise<{ readonly isReadOnly: boolean; readonly isDestructive: boolean }> {
  const load = snapshotLoader(services)
  const seen = new Set<string>()
  const classes: string[] = []
  const visit = async ({ id, version, tools, agents }: AgentSnapshot): Promise<void> => {
    if (seen.has(`${id}@${version}`)) return
    seen.add(`${id}@${version}`)
    for (const { builtin, sideEffectClass } of tools)
      classes.push(builtin ? 'read_only' : (sideEffectClass ?? 'irreversible_action'))
    for (const bound of agents) {
      // One whose version is chosen at the call, and one that cannot be read, may do anything.
      const below = bound.version === undefined ? undefined : await load(bound.id, bound.version)
      if (below) await visit(below)
      else classes.push('irreversible_action')
    }
  }
  await visit(root)
  return {
    isReadOnly: classes.every((each) => each === 'read_only'),
    isDestructive: classes.includes('irreversible_action'),
  }
}
