/** Everything that an agent version reaches, as nodes and edges: `view/bundle-graph.ts` makes it. */
import type { SideEffectClass } from '../document.ts'
import type { PolicyEffect } from '../policy-set.ts'

export interface GraphNode {
  /** Unique in the graph. */
  readonly id: string
  readonly kind: 'agent' | 'tool' | 'mcp_server' | 'policy' | 'secret'
  /** `namespace.name`, the name of a server, or the variable of a secret. */
  readonly name: string
  readonly version?: string
  /** Number of agents between the root and the node. */
  readonly depth: number
}

/** Whether a person or a denial may stand before a call: for every call, for some, or for none. */
export type CallGate = 'denied' | 'always' | 'sometimes' | 'never'

export interface GraphEdge {
  readonly from: string
  readonly to: string
  readonly kind: 'calls' | 'delegates' | 'served_by' | 'asks' | 'reads'
  /** Side-effect class of a tool; null if undeclared. */
  readonly sideEffect?: SideEffectClass | null
  readonly gate?: CallGate
  /** The version is chosen when the call is made. */
  readonly lateBound?: boolean
  /** What a policy decides about calls, and of which agent. */
  readonly effect?: PolicyEffect
  readonly agent?: string
}

export interface BundleGraph {
  /** Id of the root's node. */
  readonly root: string
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}
