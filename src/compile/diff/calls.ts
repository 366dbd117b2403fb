/** What changed about the calls of one agent: tools, sub-agents, and the decisions about them. */
import { major } from 'semver'
import { canonicalJson } from '../../base/json.ts'
import type { PolicySets } from '../../policy/condition/decision.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { PolicyOrigin, PolicyEntry } from '../../spec/policy-set.ts'
import {
  isTaintSource,
  type BoundAgent,
  type BoundTool,
  type JsonSchema,
  type AgentSnapshot,
} from '../../spec/snapshot.ts'
import { compareAuthority, type AuthorityComparison, type AuthorityVerdict } from './authority.ts'
import { calleesOf, entriesFor, type ComparedCallee } from './callee.ts'
import { versionChange, type VersionChange } from './change.ts'
import type { ComparedClosure } from './closure.ts'
import { acceptsAll, compareSchemas } from './schema.ts'
import { describePolicyEntry, describePolicyChange, describeWitness } from './words.ts'

/** One agent in both versions. */
export interface AgentPair {
  readonly before: { readonly closure: ComparedClosure; readonly agent: AgentSnapshot }
  readonly after: { readonly closure: ComparedClosure; readonly agent: AgentSnapshot }
}

export function callChanges(pair: AgentPair): readonly VersionChange[] {
  const agent = pair.after.agent.id
  const [old, now] = [pair.before, pair.after].map(({ closure, agent }) => calleesOf(closure, agent)) as [
    readonly ComparedCallee[],
    readonly ComparedCallee[],
  ]
  const matched = matchCallees(old, now)
  const gone = old.filter((each) => !matched.some(([was]) => was === each))
  const added = now.filter((each) => !matched.some(([, is]) => is === each))
  return [
    ...added.map((each) => agentAddition(agent, each, pair.after.agent)),
    ...gone.map((each) =>
      versionChange(each.kind === 'tool' ? 'tool.removed' : 'agent.removed', {
        agent,
        tool: each.id,
        from: each.id,
        say: `${each.id} removed`,
      }),
    ),
    ...replacedSources(gone, pair.after.agent),
    ...matched.flatMap(([was, is]) => [...authorityChanges(pair, was, is), ...bindingChanges(was, is)]),
  ]
}

/** Dropped sources of `run.taint` whose MCP tool is still bound under another name and no longer sets it. */
const replacedSources = (gone: readonly ComparedCallee[], after: AgentSnapshot): readonly VersionChange[] =>
  gone.flatMap(({ agent, wire, id }) => {
    const was = agent.tools.find((tool) => tool.wire === wire)
    if (!was?.mcp || !isTaintSource(was)) return []
    const { server, tool } = was.mcp
    const others = after.tools.filter(({ mcp }) => mcp?.server === server && mcp.tool === tool)
    return others
      .filter((other) => !isTaintSource(other))
      .flatMap((other) => taintChange({ agent: after.id, tool: id }, true, false, ` as ${other.id}`))
  })

/** How a tool changed as a source of `run.taint`. */
export function taintChange(place: ChangePlace, was: boolean, is: boolean, how = ''): readonly VersionChange[] {
  if (was === is) return []
  return [
    is
      ? versionChange('taint_source.added', {
          ...place,
          to: 'untrusted',
          say: `${place.tool}: its results set run.taint now`,
        })
      : versionChange('taint_source.dropped', {
          ...place,
          from: 'untrusted',
          say: `${place.tool}${how}: its results no longer set run.taint, so gates on it no longer fire`,
        }),
  ]
}

/** The changes that a newly added agent brings. */
export const newAgentChanges = (closure: ComparedClosure, agent: AgentSnapshot): readonly VersionChange[] =>
  calleesOf(closure, agent).map((each) => agentAddition(agent.id, each, agent))

function agentAddition(agent: string, callee: ComparedCallee, snapshot: AgentSnapshot): VersionChange {
  const policies = entriesFor({ own: snapshot.policies, ancestors: [] }, callee).map(({ policy }) => policy)
  const guarded = policies.length > 0 ? `policies ${[...new Set(policies)].sort().join(', ')}` : 'no policy'
  const place = { agent, tool: callee.id, to: callee.id }
  if (callee.kind === 'agent')
    return callee.late
      ? versionChange('agent.added', {
          ...place,
          widens: true,
          say: `sub-agent ${callee.id} added, late bound: what it may do is not known`,
        })
      : versionChange('agent.added', { ...place, say: `sub-agent ${callee.id} added` })
  const sideEffects = callee.sideEffectClass ?? 'undeclared class'
  return versionChange('tool.added', {
    ...place,
    widens: callee.sideEffectClass !== 'read_only',
    say: `${callee.id} added (${sideEffects}), ${guarded}`,
  })
}

/** Matches the callees of both versions by id, and by wire name first if one is bound several times. */
function matchCallees(
  old: readonly ComparedCallee[],
  now: readonly ComparedCallee[],
): readonly (readonly [ComparedCallee, ComparedCallee])[] {
  const free = new Set(old)
  const found = new Map<ComparedCallee, ComparedCallee>()
  const take = (is: ComparedCallee, fits: (was: ComparedCallee) => boolean): void => {
    const was = found.has(is)
      ? undefined
      : [...free].find((each) => each.id === is.id && each.kind === is.kind && fits(each))
    if (!was) return
    free.delete(was)
    found.set(is, was)
  }
  for (const is of now) take(is, (was) => was.wire === is.wire)
  for (const is of now) take(is, () => true)
  return [...found].map(([is, was]) => [was, is])
}

function authorityChanges(pair: AgentPair, was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
  const agent = is.agent.id
  const place = { agent, tool: is.id }
  const ways = chainsOf(pair).map(
    ([before, after]) =>
      [
        { callee: was, sets: { own: was.agent.policies, ancestors: before } },
        { callee: is, sets: { own: is.agent.policies, ancestors: after } },
      ] as const,
  )
  const { verdict, witness } = worstComparison(ways.map(([before, after]) => compareAuthority(before, after)))
  const [above, below] = ways[0]!.map(({ callee, sets }) => entriesFor(sets, callee)) as [
    readonly PolicyEntry[],
    readonly PolicyEntry[],
  ]
  const [fewer, more] = [entriesOnlyIn(above, below), entriesOnlyIn(below, above)]
  const [from, to] = [fewer, more].map((entries) => entries.map(describePolicyEntry).sort().join('; ') || null)
  const path = pathOf([...more, ...fewer])
  const changes: VersionChange[] = []
  if (verdict === 'loosened' || verdict === 'not_proven') {
    const how =
      verdict === 'loosened' ? `looser; ${witness ? describeWitness(witness) : ''}` : 'not proven to be as strict'
    changes.push(
      versionChange('authority.widened', {
        ...place,
        verdict,
        ...(witness && { witness }),
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${changePrefix(from!, to!)}${how}`,
      }),
    )
  } else if (verdict === 'tightened')
    changes.push(
      versionChange('authority.narrowed', {
        ...place,
        verdict,
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${changePrefix(from!, to!)}stricter`,
      }),
    )
  else if (fewer.length > 0 || more.length > 0)
    changes.push(
      versionChange('authority.equal', {
        ...place,
        verdict,
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${changePrefix(from!, to!)}as strict as before`,
      }),
    )
  // Changed gates of ancestors are reported for the ancestor.
  const [old, now] = [was, is].map((callee) => entriesFor({ own: callee.agent.policies, ancestors: [] }, callee)) as [
    readonly PolicyEntry[],
    readonly PolicyEntry[],
  ]
  const names = new Set(now.filter(isGate).map(({ policy }) => policy))
  const boundaries = new Set(is.agent.boundaries)
  const removed = new Set(
    old
      .filter(
        (entry) =>
          isGate(entry) &&
          !names.has(entry.policy) &&
          entry.origin.some((origin) => isReportedForAgent(origin, boundaries)),
      )
      .map(({ policy }) => policy),
  )
  for (const policy of [...removed].sort())
    changes.push(
      versionChange('gate.removed', {
        ...place,
        from: policy,
        path: pathOf(old.filter((entry) => entry.policy === policy)),
        say: `${is.id}: the policy ${policy} no longer applies`,
      }),
    )
  return changes
}

/** Removed defaults and boundaries are reported once for the agent. An entry that replaced a boundary's missing policy is not a policy. */
const isReportedForAgent = ({ kind, boundary }: PolicyOrigin, boundaries: ReadonlySet<string>): boolean =>
  kind !== 'default' && kind !== 'synthetic' && (kind !== 'boundary' || boundaries.has(boundary!))

const isGate = ({ effect }: PolicyEntry): boolean => effect !== 'grant'

const changePrefix = (from: string | null, to: string | null): string =>
  from === null && to === null ? '' : `${describePolicyChange(from ?? 'no policy', to ?? 'no policy')}, `

function entriesOnlyIn(entries: readonly PolicyEntry[], others: readonly PolicyEntry[]): readonly PolicyEntry[] {
  const ids = new Set(others.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id))
}

function pathOf(entries: readonly PolicyEntry[]): string | null {
  const origin = entries.flatMap((entry) => entry.origin).find(({ path }) => path !== undefined)
  if (origin?.path === undefined) return null
  return origin.line === undefined ? origin.path : `${origin.path}:${origin.line}`
}

const VERDICTS_BY_SEVERITY: readonly AuthorityVerdict[] = ['loosened', 'not_proven', 'tightened', 'equal']

const worstComparison = (all: readonly AuthorityComparison[]): AuthorityComparison =>
  all.reduce((a, b) => (VERDICTS_BY_SEVERITY.indexOf(b.verdict) < VERDICTS_BY_SEVERITY.indexOf(a.verdict) ? b : a))

/** Paths from the root to one agent that are compared; further ones rarely add anything. */
const MAX_CHAINS = 8

type Chain = readonly AgentSnapshot[]

/** The chains of ancestors under which the agent runs in both versions. */
function chainsOf({
  before,
  after,
}: AgentPair): readonly (readonly [PolicySets['ancestors'], PolicySets['ancestors']])[] {
  const [old, now] = [chainsTo(before.closure, before.agent.id), chainsTo(after.closure, after.agent.id)]
  const text = (chain: Chain): string => chain.map(({ id }) => id).join(' ')
  const policies = (chain: Chain): PolicySets['ancestors'] => chain.map((each) => each.policies)
  const both = now.flatMap((chain) => {
    const same = old.find((each) => text(each) === text(chain))
    return same ? [[policies(same), policies(chain)] as const] : []
  })
  return both.length > 0 ? both : [[[], []]]
}

function chainsTo({ root, agents }: ComparedClosure, id: string): readonly Chain[] {
  const found: Chain[] = []
  const visit = (at: AgentSnapshot, above: Chain): void => {
    if (found.length >= MAX_CHAINS || above.includes(at)) return
    if (at.id === id) found.push(above)
    for (const child of at.agents) {
      const next = child.lateBound ? undefined : agents.get(child.id)
      if (next) visit(next, [...above, at])
    }
  }
  visit(root, [])
  return found
}

function bindingChanges(was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
  const place = { agent: is.agent.id, tool: is.id }
  const changes: VersionChange[] = []
  if (was.wire !== is.wire)
    changes.push(
      versionChange('wire_name.changed', {
        ...place,
        from: was.wire,
        to: is.wire,
        say: `${is.id}: called ${was.wire} → ${is.wire}`,
      }),
    )
  changes.push(...classChange(place, was.sideEffectClass, is.sideEffectClass))
  changes.push(...inputChanges(place, combineSchemas(was.schemas), combineSchemas(is.schemas)))
  const [tool, other] = [was, is].map(({ agent, wire }) => agent.tools.find((each) => each.wire === wire))
  if (tool && other) changes.push(...toolChanges(place, tool, other))
  const [edge, next] = [was, is].map(({ agent, wire }) => agent.agents.find((each) => each.wire === wire))
  if (edge && next) changes.push(...edgeChanges(place, edge, next))
  return changes
}

export function classChange(
  place: ChangePlace,
  was: SideEffectClass | undefined,
  is: SideEffectClass | undefined,
): readonly VersionChange[] {
  const raised = rankOf(is) - rankOf(was)
  if (raised === 0) return []
  const [from, to] = [was ?? 'undeclared', is ?? 'undeclared']
  return [
    versionChange(raised > 0 ? 'class.raised' : 'class.lowered', {
      ...place,
      from,
      to,
      say: `${place.tool}: ${from} → ${to}`,
    }),
  ]
}

interface ChangePlace {
  readonly agent: string
  readonly tool?: string
}

/** How an input changed. A new optional property narrows nothing, even if callers could already send it to an open object. */
export function inputChanges(place: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = place.tool === undefined ? 'input' : `${place.tool}: input`
  if (!acceptsAll(after, before, true))
    return [
      versionChange('input.narrowed', {
        ...place,
        say: `${name} accepts less than before, or is not proven to accept as much`,
      }),
    ]
  if (!acceptsAll(before, after))
    return [versionChange('input.widened', { ...place, say: `${name} accepts more than before` })]
  return acceptsAll(after, before)
    ? []
    : [versionChange('input.widened', { ...place, say: `${name} describes more than before` })]
}

export function outputChanges(place: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = place.tool === undefined ? 'output' : `${place.tool}: output`
  const verdict = compareSchemas(before, after)
  if (verdict === 'equal') return []
  return verdict === 'narrowed'
    ? [versionChange('output.narrowed', { ...place, say: `${name} is stricter` })]
    : [
        versionChange('output.widened', {
          ...place,
          say: `${name} guarantees less than before, or is not proven to guarantee as much`,
        }),
      ]
}

const combineSchemas = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 0 ? true : schemas.length === 1 ? schemas[0]! : { allOf: [...schemas] }

/** An undeclared class is treated as unsafe, but requires no approval. */
const CLASSES: readonly (SideEffectClass | undefined)[] = [
  'read_only',
  'idempotent_write',
  'non_idempotent_write',
  undefined,
  'irreversible_action',
]

const rankOf = (sideEffects: SideEffectClass | undefined): number => CLASSES.indexOf(sideEffects)

function toolChanges(place: ChangePlace, was: BoundTool, is: BoundTool): readonly VersionChange[] {
  const changes = [
    ...taintChange(place, isTaintSource(was), isTaintSource(is)),
    ...outputChanges(place, was.outputSchema ?? true, is.outputSchema ?? true),
  ]
  const [from, to] = [was, is].map(({ mcp }) => (mcp ? `${mcp.server}/${mcp.tool}` : 'no MCP server')) as [
    string,
    string,
  ]
  if (from !== to)
    changes.push(versionChange('tool.route', { ...place, from, to, say: `${place.tool}: ${from} → ${to}` }))
  const [before, after] = [was.mcp?.integrity, is.mcp?.integrity]
  if (from === to && before !== undefined && before !== after)
    changes.push(
      versionChange(after === undefined ? 'mcp_tool.unpinned' : 'mcp_tool.changed', {
        ...place,
        from: before,
        to: after ?? null,
        say: `${place.tool}: ${after === undefined ? 'its description by the MCP server is no longer pinned' : 'its description by the MCP server changed'}`,
      }),
    )
  if (was.version !== is.version)
    changes.push(
      versionChange('tool.version', {
        ...place,
        from: was.version,
        to: is.version,
        say: `${place.tool} ${was.version} → ${is.version}`,
      }),
    )
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...place, say: `${place.tool}: description` }))
  if (canonicalJson(was.labels) !== canonicalJson(is.labels))
    changes.push(
      versionChange('metadata.changed', {
        ...place,
        from: { ...was.labels },
        to: { ...is.labels },
        say: `${place.tool}: labels`,
      }),
    )
  return changes
}

function edgeChanges(place: ChangePlace, was: BoundAgent, is: BoundAgent): readonly VersionChange[] {
  const changes: VersionChange[] = []
  if (was.lateBound !== is.lateBound)
    changes.push(
      is.lateBound
        ? versionChange('edge.late_bound', {
            ...place,
            from: was.version ?? null,
            say: `sub-agent ${is.id} is late bound: what it may do is not known`,
          })
        : versionChange('edge.pinned', {
            ...place,
            to: is.version ?? null,
            say: `sub-agent ${is.id} is pinned to ${is.version}`,
          }),
    )
  else if (was.version !== undefined && is.version !== undefined && was.version !== is.version) {
    const kind = major(is.version) > major(was.version) ? 'child.major' : 'child.version'
    changes.push(
      versionChange(kind, {
        ...place,
        from: was.version,
        to: is.version,
        say: `sub-agent ${is.id} ${was.version} → ${is.version}`,
      }),
    )
  }
  if (was.result !== is.result)
    changes.push(
      versionChange('result.changed', {
        ...place,
        from: was.result,
        to: is.result,
        say: `${is.id}: result ${was.result} → ${is.result}`,
      }),
    )
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...place, say: `sub-agent ${is.id}: description` }))
  return changes
}
