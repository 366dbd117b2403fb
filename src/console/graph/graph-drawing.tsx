/** The graph as SVG: nodes are links, edges have the colour of what a call does and a mark where somebody stands before it. */
import { Graph, layout } from '@dagrejs/dagre'
import { useMemo } from 'preact/hooks'
import { cutText } from '../../base/text/cut-text.ts'
import { safeText } from '../../base/text/escape-text.ts'
import type { BundleGraph, GraphEdge, GraphNode } from '../../operations/versions.ts'
import { describeEdge } from '../../view/bundle-graph.ts'
import type { View } from '../parts/view.ts'
import { hrefOfNode, KIND_NAMES, titleOfNode } from './graph-node.ts'

const HEIGHT = 40
/** Of a letter of the names, which are cut to fit. */
const LETTER = 7.3
const MOST_LETTERS = 30
const MARGIN = 12

interface Point {
  readonly x: number
  readonly y: number
}

interface DrawnGraph {
  readonly width: number
  readonly height: number
  readonly nodes: readonly (Point & { readonly width: number; readonly node: GraphNode })[]
  readonly edges: readonly { readonly edge: GraphEdge; readonly points: readonly Point[] }[]
}

/** Edges between the same two nodes are drawn once, the one that says most; the list has them all. */
function arrange({ nodes, edges }: BundleGraph): DrawnGraph {
  const graph = new Graph<
    { width?: number; height?: number },
    Point & { width: number; height: number },
    { points: Point[] }
  >()
  graph.setGraph({ rankdir: 'LR', nodesep: 14, ranksep: 70, marginx: MARGIN, marginy: MARGIN } as never)
  graph.setDefaultEdgeLabel(() => ({ points: [] }))
  for (const node of nodes) {
    const letters = Math.min(MOST_LETTERS, Math.max(titleOfNode(node).length, 8))
    graph.setNode(node.id, { width: letters * LETTER + 24, height: HEIGHT, x: 0, y: 0 })
  }
  const drawn = new Map<string, GraphEdge>()
  for (const edge of edges) {
    const key = `${edge.from}\0${edge.to}`
    if (!drawn.has(key)) drawn.set(key, edge)
    graph.setEdge(edge.from, edge.to)
  }
  layout(graph as never)
  const { width = 0, height = 0 } = graph.graph() ?? {}
  return {
    width,
    height,
    nodes: nodes.map((node) => ({ node, ...pointOf(graph.node(node.id)), width: graph.node(node.id).width })),
    edges: [...drawn.values()].map((edge) => ({ edge, points: graph.edge(edge.from, edge.to).points })),
  }
}

const pointOf = ({ x, y }: Point): Point => ({ x, y })

export function GraphDrawing({ graph }: { readonly graph: BundleGraph }): View {
  const { width, height, nodes, edges } = useMemo(() => arrange(graph), [graph])
  return (
    <div class="graph" role="region" aria-label="Graph" tabindex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Graph">
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path d="M1 1 7 4 1 7z" />
          </marker>
        </defs>
        {edges.map((each) => (
          <EdgeLine key={`${each.edge.from} ${each.edge.to}`} {...each} />
        ))}
        {nodes.map((each) => (
          <NodeBox key={each.node.id} {...each} isRoot={each.node.id === graph.root} />
        ))}
      </svg>
      <ul class="graph-legend" aria-label="Marks">
        <li>
          <i class="line read_only"></i>reads
        </li>
        <li>
          <i class="line idempotent_write"></i>writes
        </li>
        <li>
          <i class="line irreversible_action"></i>irreversible or undeclared
        </li>
        <li>
          <i class="line late"></i>version chosen at the call
        </li>
        <li>
          <b>●</b> always a person
        </li>
        <li>
          <b>◐</b> sometimes
        </li>
        <li>
          <b>✕</b> never allowed
        </li>
      </ul>
    </div>
  )
}

const MARKS: Readonly<Record<string, string>> = { always: '●', sometimes: '◐', denied: '✕' }

function EdgeLine({ edge, points }: DrawnGraph['edges'][number]): View {
  const middle = points[Math.floor(points.length / 2)]!
  const mark = MARKS[edge.gate ?? '']
  const effect = edge.kind === 'calls' ? (edge.sideEffect ?? 'undeclared') : edge.kind
  return (
    <g class={`edge ${effect} ${edge.lateBound ? 'late' : ''}`}>
      <title>{safeText(describeEdge(edge))}</title>
      <path d={pathOf(points)} marker-end="url(#arrow)" />
      {mark && (
        <>
          <circle cx={middle.x} cy={middle.y} r="9" />
          <text class="mark" x={middle.x} y={middle.y}>
            {mark}
          </text>
        </>
      )}
    </g>
  )
}

/** A curve through the points: their middles are on it, they themselves are its handles. */
function pathOf([first, ...rest]: readonly Point[]): string {
  const last = rest.at(-1)!
  const curves = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1]!
    const end = at === rest.length - 2 ? next : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    return `Q${round(point)} ${round(end)}`
  })
  return `M${round(first!)}${curves.length > 0 ? curves.join('') : `L${round(last)}`}`
}

const round = ({ x, y }: Point): string => `${Math.round(x)} ${Math.round(y)}`

function NodeBox({ node, x, y, width, isRoot }: DrawnGraph['nodes'][number] & { readonly isRoot: boolean }): View {
  const title = titleOfNode(node)
  const shown = title.length > MOST_LETTERS ? `${cutText(title, MOST_LETTERS - 1).text}…` : title
  return (
    <a class={`node ${node.kind} ${isRoot ? 'root' : ''}`} href={hrefOfNode(node)}>
      <rect x={x - width / 2} y={y - HEIGHT / 2} width={width} height={HEIGHT} rx="8" />
      <text class="kind" x={x - width / 2 + 12} y={y - 5}>
        {KIND_NAMES[node.kind]}
      </text>{' '}
      <text class="name" x={x - width / 2 + 12} y={y + 11}>
        {shown !== title && <title>{title}</title>}
        {shown}
      </text>
    </a>
  )
}
