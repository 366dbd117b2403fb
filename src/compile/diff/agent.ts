/** What changed about one agent, apart from its calls. */
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import type { AgentLimits } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import { toScaled } from '../../base/json/decimal.ts'
import { describeMoney } from '../../spec/price.ts'
import { DEFAULT_MAX_TOOL_CALLS, type JsonSchema, type AgentSnapshot } from '../../spec/snapshot.ts'
import { versionChange, type VersionChange, type ChangeKind } from './change.ts'
import { inputChanges, outputChanges } from './contract.ts'

export function agentChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  return [
    ...boundaryChanges(before, after),
    ...inputChanges({ agent: after.id }, contractOf(before), contractOf(after)),
    ...resultChanges(before, after),
    ...limitChanges(before, after),
    ...capChanges(before, after),
    ...members('secret', 'secret', after.id, before.secrets, after.secrets),
    ...members('mcp_server', 'MCP server', after.id, byName(before), byName(after)),
    ...partChanges(before, after),
  ]
}

function boundaryChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const agent = after.id
  const [old, now] = [defaultsOf(before), defaultsOf(after)]
  const everywhere = [...after.tools].map(({ wire }) => new Set(policiesOf(after, wire).map(({ policy }) => policy)))
  return [
    ...before.boundaries
      .filter((each) => !after.boundaries.includes(each))
      .map((each) =>
        versionChange('boundary.removed', { agent, from: each, say: `authority boundary ${each} removed` }),
      ),
    ...after.boundaries
      .filter((each) => !before.boundaries.includes(each))
      .map((each) => versionChange('boundary.added', { agent, to: each, say: `authority boundary ${each} added` })),
    ...[...old]
      // Still present if every binding names the policy itself.
      .filter(
        (policy) => !now.has(policy) && !(everywhere.length > 0 && everywhere.every((names) => names.has(policy))),
      )
      .map((policy) =>
        versionChange('default_policy.removed', { agent, from: policy, say: `default policy ${policy} removed` }),
      ),
  ]
}

const policiesOf = ({ policies }: AgentSnapshot, wire: string): readonly PolicyEntry[] =>
  policies.entries.filter(({ id }) => policies.index[wire]?.includes(id))

/** Default policies that restrict. A removed grant allows less, so grants do not count. */
const defaultsOf = ({ policies }: AgentSnapshot): ReadonlySet<string> =>
  new Set(
    policies.entries
      .filter(({ effect, origin }) => effect !== 'grant' && origin.some(({ kind }) => kind === 'default'))
      .map(({ policy }) => policy),
  )

const contractOf = ({ inputContract }: AgentSnapshot): JsonSchema => inputContract ?? { type: 'object' }

function resultChanges(
  { output: was }: AgentSnapshot,
  { id: agent, output: is }: AgentSnapshot,
): readonly VersionChange[] {
  const changes: VersionChange[] = []
  if (was.format !== is.format)
    changes.push(
      versionChange('output.format', {
        agent,
        from: was.format,
        to: is.format,
        say: `output format ${was.format} → ${is.format}`,
      }),
    )
  if (was.strict !== is.strict)
    changes.push(
      versionChange(is.strict ? 'output.strict_added' : 'output.strict_dropped', {
        agent,
        from: was.strict,
        to: is.strict,
        say: `output strict ${was.strict} → ${is.strict}`,
      }),
    )
  if (was.on_invalid !== is.on_invalid)
    changes.push(
      versionChange('output.on_invalid', {
        agent,
        from: was.on_invalid,
        to: is.on_invalid,
        say: `output on_invalid ${was.on_invalid} → ${is.on_invalid}`,
      }),
    )
  return [...changes, ...outputChanges({ agent }, was.schema ?? true, is.schema ?? true)]
}

function limitChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const [was, is] = [limitsOf(before), limitsOf(after)]
  const { id: agent } = after
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort() as (keyof typeof was)[]
  return names.flatMap((name) => {
    const [from, to] = [was[name], is[name]]
    if (from === to) return []
    // No limit counts as the highest.
    const [low, high] = [from, to].map((each) => (typeof each === 'number' ? each : Infinity)) as [number, number]
    const kind: ChangeKind = name === 'on_limit' ? 'limit.changed' : high > low ? 'limit.raised' : 'limit.lowered'
    return [
      versionChange(kind, {
        agent,
        from: from ?? null,
        to: to ?? null,
        say: `limit ${name} ${from ?? 'none'} → ${to ?? 'none'}`,
      }),
    ]
  })
}

/** The cap on money. No cap counts as the highest, and another currency as neither higher nor lower. */
function capChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const [was, is] = [before.maxCost, after.maxCost]
  const [from, to] = [was && describeMoney(was), is && describeMoney(is)]
  if (from === to) return []
  const difference = was && is && was.currency === is.currency ? toScaled(is.amount) - toScaled(was.amount) : undefined
  const isRaised = difference === undefined ? is === undefined : difference > 0n
  const isLowered = difference === undefined ? was === undefined : difference < 0n
  return [
    versionChange(isRaised ? 'limit.raised' : isLowered ? 'limit.lowered' : 'limit.changed', {
      agent: after.id,
      from: from ?? null,
      to: to ?? null,
      say: `limit svc/max-cost-per-run ${from ?? 'none'} → ${to ?? 'none'}`,
    }),
  ]
}

type AnnotatedLimit = 'svc/max-tool-calls' | 'svc/max-tokens-per-session' | 'svc/max-runs-per-session'

const limitsOf = ({
  limits,
  maxToolCalls,
  sessionLimits,
}: AgentSnapshot): AgentLimits & Readonly<Record<AnnotatedLimit, number | undefined>> => ({
  ...limits,
  'svc/max-tokens-per-session': sessionLimits?.tokens,
  'svc/max-runs-per-session': sessionLimits?.runs,
  'svc/max-tool-calls': maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS,
})

const byName = ({ mcpServers }: AgentSnapshot): Readonly<Record<string, unknown>> =>
  Object.fromEntries(mcpServers.map((server) => [server.name, server]))

/** Named members of a mapping that were added, removed or changed. */
function members(
  kind: 'secret' | 'mcp_server',
  word: string,
  agent: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly VersionChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => {
    const [was, is] = [before, after].map((all) => (Object.hasOwn(all, name) ? (all[name] as JsonValue) : null)) as [
      JsonValue,
      JsonValue,
    ]
    if (canonicalJson(was) === canonicalJson(is)) return []
    const what = was === null ? 'added' : is === null ? 'removed' : 'changed'
    return [versionChange(`${kind}.${what}`, { agent, from: was, to: is, say: `${word} ${name} ${what}` })]
  })
}

function partChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const agent = after.id
  const changes: VersionChange[] = []
  if (canonicalJson(before.model) !== canonicalJson(after.model))
    changes.push(
      versionChange('model.changed', {
        agent,
        from: nameOf(before),
        to: nameOf(after),
        say: `model ${nameOf(before) === nameOf(after) ? `${nameOf(after)} with other settings` : `${nameOf(before)} → ${nameOf(after)}`}`,
      }),
    )
  if (canonicalJson(before.fallback ?? []) !== canonicalJson(after.fallback ?? []))
    changes.push(
      versionChange('model.changed', {
        agent,
        from: fallbackOf(before),
        to: fallbackOf(after),
        say: `fallback models ${fallbackOf(before) ?? 'none'} → ${fallbackOf(after) ?? 'none'}`,
      }),
    )
  if (before.instructions.digest !== after.instructions.digest)
    changes.push(
      versionChange('instructions.changed', {
        agent,
        from: before.instructions.digest,
        to: after.instructions.digest,
        say: 'instructions',
      }),
    )
  if (before.purpose !== after.purpose)
    changes.push(
      versionChange('description.changed', { agent, from: before.purpose, to: after.purpose, say: 'purpose' }),
    )
  const [was, is] = [before, after].map(({ owner, labels, riskTier, classifications, frameworks }) => ({
    owner,
    labels,
    riskTier,
    classifications,
    frameworks,
  }))
  if (canonicalJson(was) !== canonicalJson(is))
    changes.push(versionChange('metadata.changed', { agent, say: 'owner, labels or governance' }))
  return changes
}

const nameOf = ({ model }: Pick<AgentSnapshot, 'model'>): string => `${model.provider}/${model.name}`
const fallbackOf = ({ fallback }: AgentSnapshot): string | null =>
  fallback?.map((model) => nameOf({ model })).join(', ') ?? null
