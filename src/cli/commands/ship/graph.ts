/** `svc agents graph`: the agents, tools, servers and secrets that a version reaches, one edge per line. */
import { safeText } from '../../../base/escape-text.ts'
import type { BundleGraph, GraphEdge, GraphNode } from '../../../operations/versions.ts'
import { describeEdge } from '../../../view/bundle-graph.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printTable } from '../../shell/screen/list.ts'

export async function agentsGraph(call: CommandContext<BundleGraph>): Promise<void> {
  const { name, version } = splitVersion(call.given.argument(0)!)
  await withOperator(await openProject(call), call, async (operator) => {
    const { agentId } = await resolveAgent(name, operator)
    const query = { agent: agentId, ...(version !== undefined && { version }) }
    const graph = await operator.call('GET /graph', { query })
    if (call.mode.json) return await call.out.json(graph)
    printTable(call, graph.edges, columnsOf(graph), `${name} calls nothing.`)
  })
}

function columnsOf({ nodes }: BundleGraph): readonly TableColumn<GraphEdge>[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  return [
    { title: 'FROM', cell: ({ from }) => titleOf(byId.get(from)) },
    { title: 'WHAT', isFlexible: true, cell: (edge) => describeEdge(edge) },
    { title: 'TO', cell: ({ to }) => titleOf(byId.get(to)) },
  ]
}

const titleOf = (node: GraphNode | undefined): string =>
  node === undefined
    ? ''
    : safeText(`${node.kind.replaceAll('_', ' ')} ${node.name}${node.version === undefined ? '' : `@${node.version}`}`)
