/** The closure of a bundle as nodes and edges: the JSON of `svc bundle tree`. */
import type { Digest } from '../base/digest.ts'
import type { CompiledBundle } from '../spec/snapshot.ts'
import type { LockFile, LockedMember } from './state/lock-file.ts'

export interface TreeNode {
  /** `namespace.name`, or the path of a file. */
  readonly id: string
  readonly kind: LockedMember['kind']
  readonly version: string | null
  readonly path: string | null
  readonly origin: LockedMember['origin']
  readonly digest: Digest
}

export interface TreeEdge {
  /** Id of an agent. */
  readonly from: string
  readonly to: string
  /** Of the target. */
  readonly kind: LockedMember['kind']
  readonly version: string | null
  readonly lateBound: boolean
  /** The range that selected a version of the registry. */
  readonly requested?: string
}

export interface BundleTree {
  /** Id of the root agent, or of a document that is published alone. */
  readonly root: string | null
  readonly nodes: readonly TreeNode[]
  readonly edges: readonly TreeEdge[]
}

export function bundleTree(bundle: CompiledBundle, { members }: LockFile): BundleTree {
  const nodes = members.map(({ kind, id, version = null, path = null, origin, integrity }): TreeNode => ({
    id,
    kind,
    version,
    path,
    origin,
    digest: integrity,
  }))
  const requested = new Map(members.map((member) => [`${member.kind} ${member.id}`, member.requested]))
  const edges = new Map<string, TreeEdge>()
  const add = (
    from: string,
    kind: TreeEdge['kind'],
    to: string,
    version: string | undefined,
    lateBound = false,
  ): void => {
    const wanted = requested.get(`${kind} ${to}`)
    const edge = {
      from,
      to,
      kind,
      version: version ?? null,
      lateBound,
      ...(wanted !== undefined && { requested: wanted }),
    }
    edges.set(`${from}\0${kind}\0${to}\0${version}`, edge)
  }
  for (const { id, tools, agents, policies } of bundle.agents) {
    for (const tool of tools)
      if (nodes.some((node) => node.kind === 'tool' && node.id === tool.id)) add(id, 'tool', tool.id, tool.version)
    for (const child of agents) add(id, 'agent', child.id, child.version, child.lateBound)
    for (const { doc } of policies.entries.flatMap(({ origin }) => origin)) {
      const [policy, version] = doc?.split('@') ?? []
      if (policy !== undefined) add(id, 'policy', policy, version)
    }
  }
  return { root: bundle.root ?? nodes[0]?.id ?? null, nodes, edges: [...edges.values()] }
}
