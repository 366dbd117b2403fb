/** Tools and agents as the model sees them. */
import type { SessionId } from '../../base/ids.ts'
import type { ModelTool } from '../../providers/provider.ts'
import { delegationSchema } from '../../spec/delegation.ts'
import type { Run } from '../../spec/run/run.ts'
import type { AgentSnapshot, BoundTool, JsonSchema } from '../../spec/snapshot.ts'
import type { AgentVersion } from '../../store/version-rows.ts'
import type { Toolbox } from '../../tools/tool.ts'

/** Input schemas as tool servers described them last. Weak: a tool is dropped with the version it belongs to. */
export type DescribedTools = WeakMap<BoundTool, JsonSchema>

/** The tools that a run offers its model. */
export interface OfferedTools {
  readonly run: Run
  readonly snapshot: AgentSnapshot
  /** Tools that the engine offers this run in addition to those its author bound. */
  readonly offered: readonly BoundTool[]
  /** Filled here, read when a call is authorized. */
  readonly described: DescribedTools
  readonly childOf: (wire: string) => AgentVersion | undefined
}

/** Input schema of a tool that nobody describes: its server checks the arguments. */
const ANY_OBJECT = { type: 'object' }

export async function toModelTools(
  toolbox: Toolbox,
  { run, snapshot, offered, described, childOf }: OfferedTools,
  signal: AbortSignal,
): Promise<ModelTool[]> {
  const describe = (tool: BoundTool) => describeTool(toolbox, described, snapshot, tool, signal, run.sessionId)
  const tools = [...snapshot.tools, ...offered].map(describe)
  const agents = snapshot.agents.map(({ wire, description, inputSchema }) => ({
    name: wire,
    description,
    schema: delegationSchema(inputSchema, childOf(wire)?.snapshot.inputContract),
  }))
  return [...(await Promise.all(tools)), ...agents]
}

/** A tool as its author describes it, else as its server does. @param described filled where the server describes it */
export async function describeTool(
  toolbox: Toolbox,
  described: DescribedTools,
  snapshot: AgentSnapshot,
  tool: BoundTool,
  signal: AbortSignal,
  sessionId?: SessionId,
): Promise<ModelTool> {
  if (tool.inputSchema !== undefined)
    return { name: tool.wire, description: tool.description, schema: tool.inputSchema }
  const found = await toolbox.describe(snapshot, tool, signal, sessionId)
  if (found) described.set(tool, found.checked ?? found.schema)
  return {
    name: tool.wire,
    description: tool.description || (found?.description ?? ''),
    schema: found?.schema ?? ANY_OBJECT,
  }
}
