/** Writes agents as snapshots: everything by value, every child pinned by digest. Source: docs/design/bundles-and-authority.md#snapshots */
import { digestOf } from '../../base/digest.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { canonicalProvider, idOf, providerSpellings, type AgentDocument, type ModelSpec } from '../../spec/document.ts'
import {
  byName,
  digestOfClosure,
  digestOfSnapshot,
  type BoundAgent,
  type CompiledBundle,
  type AgentSnapshot,
  type SnapshotModel,
} from '../../spec/snapshot.ts'
import { idOfDocument, type ResolvedSubAgent, type BundleAgent, type CompileState } from '../state/state.ts'
import { expectDefined } from '../../base/values/expect-defined.ts'

/** Fills `member.snapshot`, children first. */
export function freezeAgents(state: CompileState): void {
  for (const member of state.members) member.snapshot = snapshotOf(state, member)
}

/** What is published: the closure of the subject. It includes members from the registry; publishing these again changes nothing. */
export function toCompiledBundle(state: CompileState): CompiledBundle {
  const agents = [...state.members.flatMap(({ snapshot }) => snapshot ?? []), ...state.externals.values()]
  const documents = [...state.contracts.values(), ...state.resolvedPolicies.values()].map(({ published }) => published)
  const bundle = state.bundle?.value as { metadata: { namespace: string; name: string; version: string } } | undefined
  const root = state.subject?.kind === 'Agent' ? idOfDocument(state.subject) : undefined
  const sorted = documents.sort(byName)
  return {
    ...(root !== undefined && { root }),
    ...(bundle && { bundle: { id: idOf(bundle.metadata), version: bundle.metadata.version } }),
    agents,
    documents: sorted,
    closureDigest: digestOfClosure(root, agents, sorted),
  }
}

function snapshotOf(state: CompileState, member: BundleAgent): AgentSnapshot {
  const { agent, bindings, edges } = member
  const { metadata, spec, output, secrets = {} } = agent
  const { governance } = metadata
  const whole: Omit<AgentSnapshot, 'digest'> = {
    v: 1,
    id: member.id,
    namespace: metadata.namespace,
    name: metadata.name,
    version: state.version(metadata.version),
    ...(metadata.owner !== undefined && { owner: metadata.owner }),
    labels: metadata.labels ?? {},
    ...(governance?.risk_tier !== undefined && { riskTier: governance.risk_tier }),
    classifications: governance?.classifications ?? [],
    boundaries: governance?.authority_boundaries ?? [],
    ...(governance?.frameworks && { frameworks: governance.frameworks }),
    purpose: spec.purpose,
    instructions: { text: member.instructions, digest: digestOf(member.instructions) },
    model: modelOf(agent.spec.model, agent, member.script),
    ...(member.fallback && { fallback: member.fallback.map((model) => modelOf(model, agent, undefined)) }),
    secrets,
    mcpServers: spec.mcp_servers ?? [],
    tools: bindings.flatMap(({ bound }) => bound ?? []),
    agents: edges.flatMap(boundAgent),
    limits: spec.limits ?? {},
    ...(member.maxToolCalls !== undefined && { maxToolCalls: member.maxToolCalls }),
    ...(member.maxCost && { maxCost: member.maxCost }),
    ...member.outage,
    ...(member.context && { context: member.context }),
    ...(member.sessionLimits && { sessionLimits: member.sessionLimits }),
    output: {
      format: output?.format ?? 'text',
      ...(member.outputSchema !== undefined && { schema: member.outputSchema }),
      strict: output?.strict ?? false,
      on_invalid: output?.on_invalid ?? 'retry',
    },
    ...(member.contract !== undefined && { inputContract: member.contract }),
    policies: expectDefined(member.policySet, 'an earlier stage attaches policies to every member'),
  }
  return { ...whole, digest: digestOfSnapshot(whole) }
}

function boundAgent({ bound, target }: ResolvedSubAgent): BoundAgent[] {
  if (!bound) return []
  if (target.at === 'late') return [bound]
  const snapshot = target.at === 'local' ? target.member.snapshot : target.snapshot
  const { version, digest } = expectDefined(snapshot, 'local children come before their parents among the members')
  return [{ ...bound, version, digest }]
}

function modelOf(
  { provider, secret, provider_options: options, ...rest }: ModelSpec,
  { secrets = {} }: AgentDocument,
  script: BundleAgent['script'],
): SnapshotModel {
  const key = secret ?? providerSpellings(provider).find((name) => Object.hasOwn(secrets, name))
  const remaining = script ? omitKey(options ?? {}, 'script') : options
  return {
    ...rest,
    provider: canonicalProvider(provider),
    ...(remaining && Object.keys(remaining).length > 0 && { provider_options: remaining }),
    ...(key !== undefined && { secret: key }),
    ...(script && { script }),
  }
}

const omitKey = (value: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
