/** The authority of each compiled agent: the JSON of `svc compile`. Source: docs/design/bundles-and-authority.md#comparisons */
import { digestOfJson, type Digest } from '../base/digest.ts'
import type { TextSpan } from '../documents/text/source.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { PolicyOrigin, PolicyEntry } from '../spec/policy-set.ts'
import type { CompiledBundle, AgentSnapshot } from '../spec/snapshot.ts'

export interface CompileSummary {
  readonly root: string | null
  readonly digest: Digest
  readonly boundaries: readonly {
    readonly agent: string
    readonly boundary: string
    readonly policies: readonly string[]
  }[]
  readonly policies: readonly {
    readonly id: string
    readonly version: string
    readonly scope: string | null
    readonly decision: string
    readonly conditionHash: Digest | null
    readonly source: { readonly path: string; readonly range: TextSpan | null } | null
  }[]
  readonly bindings: readonly {
    readonly agent: string
    readonly tool: string
    readonly chain: readonly { readonly policy: string; readonly why: string }[]
    readonly default: 'allow' | 'require_approval'
  }[]
  readonly unmatched: readonly { readonly agent: string; readonly boundary: string }[]
}

export function summarizeCompile(
  { root, agents, closureDigest }: CompiledBundle,
  workspace: Workspace,
): CompileSummary {
  const all = new Map(agents.flatMap(({ policies }) => policies.entries.map((entry) => [entry.id, entry])))
  return {
    root: root ?? null,
    digest: closureDigest,
    boundaries: agents.flatMap((agent) =>
      agent.boundaries.map((boundary) => ({ agent: agent.id, boundary, policies: policiesOf(agent, boundary) })),
    ),
    policies: [...all.values()].map((entry) => ({
      id: entry.policy,
      version: entry.version,
      scope: entry.scope === undefined ? null : `tool:${entry.scope}`,
      decision: entry.effect === 'grant' || entry.effect === 'restrict' ? 'allow' : entry.effect,
      conditionHash: entry.when === undefined ? null : digestOfJson(entry.when),
      source: sourceOf(entry, workspace),
    })),
    bindings: agents.flatMap((agent) =>
      [...agent.tools, ...agent.agents].map((bound) => ({
        agent: agent.id,
        tool: bound.id,
        chain: chainOf(agent, bound.wire),
        default:
          'sideEffectClass' in bound && bound.sideEffectClass === 'irreversible_action' ? 'require_approval' : 'allow',
      })),
    ),
    unmatched: agents.flatMap((agent) =>
      agent.boundaries
        .filter((boundary) => originsOf(agent, boundary).some(({ kind }) => kind === 'synthetic'))
        .map((boundary) => ({ agent: agent.id, boundary })),
    ),
  }
}

const originsOf = (agent: AgentSnapshot, boundary: string): readonly PolicyOrigin[] =>
  agent.policies.entries.flatMap(({ origin }) => origin.filter((each) => each.boundary === boundary))

const policiesOf = (agent: AgentSnapshot, boundary: string): readonly string[] =>
  [
    ...new Set(
      agent.policies.entries
        .filter(({ origin }) => origin.some((each) => each.boundary === boundary))
        .map(({ policy }) => policy),
    ),
  ].sort()

function chainOf({ policies }: AgentSnapshot, wire: string): CompileSummary['bindings'][number]['chain'] {
  const ids = new Set(policies.index[wire])
  return policies.entries
    .filter(({ id }) => ids.has(id))
    .map(({ policy, version, origin }) => ({
      policy: `${policy}@${version}`,
      why: [
        ...new Set(origin.map(({ kind, boundary }) => (boundary === undefined ? kind : `${kind} ${boundary}`))),
      ].join(', '),
    }))
}

function sourceOf({ origin }: PolicyEntry, workspace: Workspace): { path: string; range: TextSpan | null } | null {
  const written = origin.find(({ path }) => path !== undefined)
  if (written?.path === undefined) return null
  const document = workspace
    .documentsAt(written.path)
    .find((each) => `${each.identity?.id}@${each.identity?.version}` === written.doc)
  return { path: written.path, range: document?.spanOf(written.pointer ?? '') ?? null }
}
