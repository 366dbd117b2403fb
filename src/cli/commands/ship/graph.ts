/** `svc agents graph`: the agents, tools, servers and secrets that a version reaches, one edge per line. */
import { safeText } from '../../../base/text/escape-text.ts'
import type { BundleGraph, GraphEdge, GraphNode } from '../../../operations/versions.ts'
import { describeEdge } from '../../../view/bundle-graph.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { requestCommand } from '../../project/request-command.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import { printTable } from '../../shell/screen/list.ts'

export const agentsGraph = requestCommand(
  'GET /graph',
  ({ given }) => {
    const { name, version } = splitVersion(given.required(0))
    return async (operator) => ({ query: { agent: (await resolveAgent(name, operator)).agentId, version } })
  },
  (call, graph) =>
    printTable(call, graph.edges, columnsOf(graph), `${splitVersion(call.given.required(0)).name} calls nothing.`),
)

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
