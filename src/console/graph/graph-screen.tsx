/** What a version reaches: drawn, and as a list that says the same. Source: docs/design/console.md#screens */
import { safeText } from '../../base/text/escape-text.ts'
import type { BundleGraph } from '../../operations/versions.ts'
import { describeEdge } from '../../view/bundle-graph.ts'
import type { View } from '../parts/view.ts'
import { Table } from '../parts/table.tsx'
import { Icon } from '../parts/icon.tsx'
import { EmptyState, ErrorNote, Loading } from '../parts/states.tsx'
import { address } from '../wire/navigation.ts'
import { aboutWorkspace, useOperator } from '../wire/resource.ts'
import { GraphDrawing } from './graph-drawing.tsx'
import { hrefOfNode, KIND_NAMES, titleOfNode } from './graph-node.ts'

/** More is a list only: nobody reads the drawing, and its layout takes seconds. */
const MOST_DRAWN = 250

export function GraphScreen({ id: agent = '' }: { readonly id?: string }): View {
  const version = address.value.query.get('version') ?? undefined
  const graph = useOperator('GET /graph', { query: { agent, version } }, aboutWorkspace)
  const read = graph.value
  const error = graph.error
  if (error?.status === 404) return <EmptyState icon="agents" title="There is no such agent or version." isScreen />
  if (!read) return error ? <ErrorNote error={error} /> : <Loading />
  return (
    <section class="screen">
      <a class="back-link" href={`/agents/${encodeURIComponent(agent)}`}>
        <Icon name="left" />
        {safeText(agent)}
      </a>
      <header class="screen-head">
        <h1>What it reaches</h1>
      </header>
      <ErrorNote error={error} />
      {read.nodes.length > MOST_DRAWN ? (
        <p class="note waiting">{read.nodes.length} nodes are too many to draw; the list has them all.</p>
      ) : (
        <GraphDrawing graph={read} />
      )}
      <h2 class="section">The same as a list</h2>
      <GraphList graph={read} />
    </section>
  )
}

function GraphList({ graph: { root, nodes, edges } }: { readonly graph: BundleGraph }): View {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const link = (id: string): View => {
    const node = byId.get(id)!
    return (
      <>
        <a href={hrefOfNode(node)}>{titleOfNode(node)}</a>
        <span class="sub">{KIND_NAMES[node.kind]}</span>
      </>
    )
  }
  if (edges.length === 0) return <p class="dim">{titleOfNode(byId.get(root)!)} calls nothing.</p>
  return (
    <Table label="Edges" kind="edges" heads={['From', 'What', 'To']}>
      {edges.map((edge, at) => (
        <tr key={at}>
          <td>{link(edge.from)}</td>
          <td>{safeText(describeEdge(edge))}</td>
          <td>{link(edge.to)}</td>
        </tr>
      ))}
    </Table>
  )
}
