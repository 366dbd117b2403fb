import { createRedactor } from '../../src/base/secret.ts'
import type { JsonValue } from '../../src/base/json/json.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'
import type { BoundTool, AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { ToolInvocation, ToolOutcome } from '../../src/tools/tool.ts'
import { createToolbox, type ToolboxParts } from '../../src/tools/routes/toolbox.ts'

export const toolNamed = (id: string, more: Partial<BoundTool> = {}): BoundTool => ({
  wire: id.slice(id.lastIndexOf('.') + 1),
  id,
  version: '1.0.0',
  description: '',
  inputSchemas: [],
  labels: {},
  ...more,
})

export const invocationOf = (tool: BoundTool, args: JsonValue, more: Partial<ToolInvocation> = {}): ToolInvocation => ({
  tool,
  arguments: args,
  idempotencyKey: 'svc:run-1:2:0',
  callId: 'call_2_1',
  attempt: 1,
  notAfter: Date.parse('2999-01-01T00:00:00Z'),
  run: { id: 'run-1', sessionId: 'session-1', agent: 'acme.desk', version: '1.2.0' },
  ...more,
})

/** The parts of a snapshot that tools read. */
export const agentWith = (more: Partial<AgentSnapshot> = {}): AgentSnapshot =>
  ({ id: 'acme.desk', version: '1.2.0', digest: 'sha256:aa', secrets: {}, mcpServers: [], ...more }) as AgentSnapshot

export const toolboxWith = (config: ProjectConfig, more: Partial<ToolboxParts> = {}) =>
  createToolbox({
    config,
    configDir: import.meta.dirname,
    env: { PATH: process.env['PATH'] },
    redactor: createRedactor(),
    ...more,
  })

/** One call through the route of a config, without the time it took. */
export async function invoke(
  config: ProjectConfig,
  tool: BoundTool,
  args: JsonValue,
  more: Partial<ToolboxParts> = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<object> {
  const route = toolboxWith(config, more).route(agentWith(), tool)
  if (!route) throw new Error(`Nothing handles ${tool.id}.`)
  return timeless(await route.invoke(invocationOf(tool, args), signal))
}

export const timeless = (outcome: ToolOutcome): object => {
  if (outcome.at !== 'returned') return outcome
  const { durationMs, ...rest } = outcome
  if (durationMs < 0) throw new Error('A call took less than no time.')
  return rest
}
