/** What changed about one agent, apart from its calls. */
import { canonicalJson, type JsonValue } from '../base/json/json.ts'
import type { AgentLimits } from '../spec/document.ts'
import type { PolicyEntry } from '../spec/policy-set.ts'
import { toScaled } from '../base/json/decimal.ts'
import { describeMoney } from '../spec/price.ts'
import { DEFAULT_MAX_TOOL_CALLS, type JsonSchema, type AgentSnapshot } from '../spec/snapshot.ts'
import { valueChange, versionChange, type VersionChange, type ChangeKind, kindOfChange } from './change.ts'
import { inputChanges, outputChanges } from './contract.ts'
import { ownMember } from '../base/json/own-member.ts'

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

function resultChanges({ output: was }: AgentSnapshot, { id, output: is }: AgentSnapshot): readonly VersionChange[] {
  const agent = { agent: id }
  const strictness = is.strict ? 'output.strict_added' : 'output.strict_dropped'
  return [
    ...valueChange('output.format', agent, was.format, is.format, `output format ${was.format} → ${is.format}`),
    ...valueChange(strictness, agent, was.strict, is.strict, `output strict ${was.strict} → ${is.strict}`),
    ...valueChange(
      'output.on_invalid',
      agent,
      was.on_invalid,
      is.on_invalid,
      `output on_invalid ${was.on_invalid} → ${is.on_invalid}`,
    ),
    ...outputChanges(agent, was.schema ?? true, is.schema ?? true),
  ]
}

function limitChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const [was, is] = [limitsOf(before), limitsOf(after)]
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort() as (keyof typeof was)[]
  return names.flatMap((name) => {
    const [from, to] = [was[name], is[name]]
    // No limit counts as the highest.
    const [low, high] = [from, to].map((each) => (typeof each === 'number' ? each : Infinity)) as [number, number]
    const moved = high > low ? 'limit.raised' : 'limit.lowered'
    const kind: ChangeKind = name === 'on_limit' ? 'limit.changed' : moved
    return valueChange(kind, { agent: after.id }, from, to, `limit ${name} ${from ?? 'none'} → ${to ?? 'none'}`)
  })
}

/** The cap on money. No cap counts as the highest, and another currency as neither higher nor lower. */
function capChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const [was, is] = [before.maxCost, after.maxCost]
  const [from, to] = [was && describeMoney(was), is && describeMoney(is)]
  const difference = was && is && was.currency === is.currency ? toScaled(is.amount) - toScaled(was.amount) : undefined
  const isRaised = difference === undefined ? is === undefined : difference > 0n
  const isLowered = difference === undefined ? was === undefined : difference < 0n
  const other = isLowered ? 'limit.lowered' : 'limit.changed'
  const kind = isRaised ? 'limit.raised' : other
  const say = `limit svc/max-cost-per-run ${from ?? 'none'} → ${to ?? 'none'}`
  return valueChange(kind, { agent: after.id }, from, to, say)
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
    const valueIn = (all: Readonly<Record<string, unknown>>) => (ownMember(all, name) ?? null) as JsonValue
    const [was, is] = [valueIn(before), valueIn(after)]
    const what = kindOfChange(was, is)
    return valueChange(`${kind}.${what}`, { agent }, was, is, `${word} ${name} ${what}`)
  })
}

function partChanges(before: AgentSnapshot, after: AgentSnapshot): readonly VersionChange[] {
  const place = { agent: after.id }
  const changes: VersionChange[] = []
  if (canonicalJson(before.model) !== canonicalJson(after.model)) {
    const [from, to] = [nameOf(before), nameOf(after)]
    const say = from === to ? `model ${to} with other settings` : `model ${from} → ${to}`
    changes.push(versionChange('model.changed', { ...place, from, to, say }))
  }
  if (canonicalJson(before.fallback ?? []) !== canonicalJson(after.fallback ?? [])) {
    const [from, to] = [fallbackOf(before), fallbackOf(after)]
    const say = `fallback models ${from ?? 'none'} → ${to ?? 'none'}`
    changes.push(versionChange('model.changed', { ...place, from, to, say }))
  }
  const [ruleBefore, rule] = [describeContextRule(before), describeContextRule(after)]
  if (ruleBefore !== rule) {
    const say = `svc/context ${ruleBefore ?? 'none'} → ${rule ?? 'none'}`
    changes.push(versionChange('limit.changed', { ...place, from: ruleBefore, to: rule, say }))
  }
  const [old, now] = [before.instructions.digest, after.instructions.digest]
  changes.push(
    ...valueChange('instructions.changed', place, old, now, 'instructions'),
    ...valueChange('description.changed', place, before.purpose, after.purpose, 'purpose'),
  )
  const [was, is] = [before, after].map(({ owner, labels, riskTier, classifications, frameworks }) => ({
    owner,
    labels,
    riskTier,
    classifications,
    frameworks,
  }))
  if (canonicalJson(was) !== canonicalJson(is))
    changes.push(versionChange('metadata.changed', { ...place, say: 'owner, labels or governance' }))
  return changes
}

function describeContextRule({ context }: AgentSnapshot): string | null {
  if (!context) return null
  const { keep, summarise, budget } = context
  return `{keep: ${keep}, summarise: ${summarise}, budget: ${'tokens' in budget ? budget.tokens : `${budget.percent}%`}}`
}

const nameOf = ({ model }: Pick<AgentSnapshot, 'model'>): string => `${model.provider}/${model.name}`
const fallbackOf = ({ fallback }: AgentSnapshot): string | null =>
  fallback?.map((model) => nameOf({ model })).join(', ') ?? null
