/** What changed about one agent beside its calls. */
import { canonical, type JsonValue } from '../../base/json.ts'
import type { Limits } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import { DEFAULT_MAX_TOOL_CALLS, type JsonSchema, type Snapshot } from '../../spec/snapshot.ts'
import { inputChanges, outputChanges } from './calls.ts'
import { change, type Change, type ChangeKind } from './change.ts'

export function agentChanges(before: Snapshot, after: Snapshot): readonly Change[] {
  return [
    ...boundaryChanges(before, after),
    ...inputChanges({ agent: after.id }, contractOf(before), contractOf(after)),
    ...resultChanges(before, after),
    ...limitChanges(before, after),
    ...members('secret', 'secret', after.id, before.secrets, after.secrets),
    ...members('mcp_server', 'MCP server', after.id, byName(before), byName(after)),
    ...partChanges(before, after),
  ]
}

function boundaryChanges(before: Snapshot, after: Snapshot): readonly Change[] {
  const agent = after.id
  const [old, now] = [defaultsOf(before), defaultsOf(after)]
  const everywhere = [...after.tools].map(({ wire }) => new Set(policiesOf(after, wire).map(({ policy }) => policy)))
  return [
    ...before.boundaries
      .filter((each) => !after.boundaries.includes(each))
      .map((each) => change('boundary.removed', { agent, from: each, say: `authority boundary ${each} removed` })),
    ...after.boundaries
      .filter((each) => !before.boundaries.includes(each))
      .map((each) => change('boundary.added', { agent, to: each, say: `authority boundary ${each} added` })),
    ...[...old]
      // One that every binding names for itself is still there.
      .filter(
        (policy) => !now.has(policy) && !(everywhere.length > 0 && everywhere.every((names) => names.has(policy))),
      )
      .map((policy) =>
        change('default_policy.removed', { agent, from: policy, say: `default policy ${policy} removed` }),
      ),
  ]
}

const policiesOf = ({ policies }: Snapshot, wire: string): readonly PolicyEntry[] =>
  policies.entries.filter(({ id }) => policies.index[wire]?.includes(id))

/** Default policies that restrict: a grant that goes allows less. */
const defaultsOf = ({ policies }: Snapshot): ReadonlySet<string> =>
  new Set(
    policies.entries
      .filter(({ effect, origin }) => effect !== 'grant' && origin.some(({ kind }) => kind === 'default'))
      .map(({ policy }) => policy),
  )

const contractOf = ({ inputContract }: Snapshot): JsonSchema => inputContract ?? { type: 'object' }

function resultChanges({ output: was }: Snapshot, { id: agent, output: is }: Snapshot): readonly Change[] {
  const changes: Change[] = []
  if (was.format !== is.format)
    changes.push(
      change('output.format', {
        agent,
        from: was.format,
        to: is.format,
        say: `output format ${was.format} → ${is.format}`,
      }),
    )
  if (was.strict !== is.strict)
    changes.push(
      change(is.strict ? 'output.strict_added' : 'output.strict_dropped', {
        agent,
        from: was.strict,
        to: is.strict,
        say: `output strict ${was.strict} → ${is.strict}`,
      }),
    )
  if (was.on_invalid !== is.on_invalid)
    changes.push(
      change('output.on_invalid', {
        agent,
        from: was.on_invalid,
        to: is.on_invalid,
        say: `output on_invalid ${was.on_invalid} → ${is.on_invalid}`,
      }),
    )
  return [...changes, ...outputChanges({ agent }, was.schema ?? true, is.schema ?? true)]
}

function limitChanges(before: Snapshot, after: Snapshot): readonly Change[] {
  const [was, is] = [limitsOf(before), limitsOf(after)]
  const { id: agent } = after
  const names = [...new Set([...Object.keys(was), ...Object.keys(is)])].sort() as (keyof typeof was)[]
  return names.flatMap((name) => {
    const [from, to] = [was[name], is[name]]
    if (from === to) return []
    // No limit is the highest.
    const [low, high] = [from, to].map((each) => (typeof each === 'number' ? each : Infinity)) as [number, number]
    const kind: ChangeKind = name === 'on_limit' ? 'limit.changed' : high > low ? 'limit.raised' : 'limit.lowered'
    return [
      change(kind, {
        agent,
        from: from ?? null,
        to: to ?? null,
        say: `limit ${name} ${from ?? 'none'} → ${to ?? 'none'}`,
      }),
    ]
  })
}

const limitsOf = ({ limits, maxToolCalls }: Snapshot): Limits & { readonly 'svc/max-tool-calls': number } => ({
  ...limits,
  'svc/max-tool-calls': maxToolCalls ?? DEFAULT_MAX_TOOL_CALLS,
})

const byName = ({ mcpServers }: Snapshot): Readonly<Record<string, unknown>> =>
  Object.fromEntries(mcpServers.map((server) => [server.name, server]))

/** Named members of a mapping: added, removed, or with another value. */
function members(
  kind: 'secret' | 'mcp_server',
  word: string,
  agent: string,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): readonly Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
  return names.flatMap((name) => {
    const [was, is] = [before, after].map((all) => (Object.hasOwn(all, name) ? (all[name] as JsonValue) : null)) as [
      JsonValue,
      JsonValue,
    ]
    if (canonical(was) === canonical(is)) return []
    const what = was === null ? 'added' : is === null ? 'removed' : 'changed'
    return [change(`${kind}.${what}`, { agent, from: was, to: is, say: `${word} ${name} ${what}` })]
  })
}

function partChanges(before: Snapshot, after: Snapshot): readonly Change[] {
  const agent = after.id
  const changes: Change[] = []
  if (canonical(before.model) !== canonical(after.model))
    changes.push(
      change('model.changed', {
        agent,
        from: nameOf(before),
        to: nameOf(after),
        say: `model ${nameOf(before) === nameOf(after) ? `${nameOf(after)} with other settings` : `${nameOf(before)} → ${nameOf(after)}`}`,
      }),
    )
  if (before.instructions.digest !== after.instructions.digest)
    changes.push(
      change('instructions.changed', {
        agent,
        from: before.instructions.digest,
        to: after.instructions.digest,
        say: 'instructions',
      }),
    )
  if (before.purpose !== after.purpose)
    changes.push(change('description.changed', { agent, from: before.purpose, to: after.purpose, say: 'purpose' }))
  const [was, is] = [before, after].map(({ owner, labels, riskTier, classifications, frameworks }) => ({
    owner,
    labels,
    riskTier,
    classifications,
    frameworks,
  }))
  if (canonical(was) !== canonical(is))
    changes.push(change('metadata.changed', { agent, say: 'owner, labels or governance' }))
  return changes
}

const nameOf = ({ model }: Snapshot): string => `${model.provider}/${model.name}`
