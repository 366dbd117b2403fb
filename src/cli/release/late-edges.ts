/** Late-bound delegations: a call fails until its agent is deployed. */
import { join, relative } from 'node:path'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import type { CommandContext } from '../shell/command.ts'
import type { OperatorClient } from '../../client/operator.ts'

export interface LateEdge {
  readonly from: string
  /** `namespace.name` of the agent that is called. */
  readonly to: string
  /** Path of its document in the project, relative to the working directory. */
  readonly path?: string
}

/** @param documents workspace that may hold the called agents, and the directory that paths are relative to */
export const lateEdgesOf = (
  agents: readonly AgentSnapshot[],
  documents?: { readonly workspace: Workspace; readonly cwd: string },
): readonly LateEdge[] =>
  agents.flatMap(({ id: from, agents: edges }) =>
    edges
      .filter(({ lateBound }) => lateBound)
      .map(({ id: to }) => {
        const { workspace, cwd = '' } = documents ?? {}
        const document = workspace?.documents.find(({ kind, identity }) => kind === 'Agent' && identity?.id === to)
        return { from, to, ...(workspace && document && { path: relative(cwd, join(workspace.root, document.path)) }) }
      }),
  )

/** Warns about late-bound agents that are not deployed. Source: docs/design/bundles-and-authority.md#references */
export async function printUndeployed(
  { out }: Pick<CommandContext, 'out'>,
  operator: OperatorClient,
  edges: readonly LateEdge[],
): Promise<void> {
  if (edges.length === 0) return
  const { items } = await operator.call('GET /agents', { query: {} })
  for (const { from, to, path } of edges) {
    const agent = items.find(({ name }) => name === to)
    if (agent?.deployed) continue
    out.message(`${from} delegates to ${to}, which is bound late and not deployed: such a call is an error until it is`)
    if (agent) out.hint(`next:  svc deploy ${to}`)
    else if (path !== undefined) out.hint(`next:  svc publish ${path} --deploy`)
  }
}
