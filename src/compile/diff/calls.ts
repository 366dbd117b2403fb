/** What changed about the calls of one agent: tools, sub-agents, and what is decided about them. */
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
import { sayEntry, sayTransition, sayWitness } from './words.ts'

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
  const matched = match(old, now)
  const gone = old.filter((each) => !matched.some(([was]) => was === each))
  const added = now.filter((each) => !matched.some(([, is]) => is === each))
  return [
    ...added.map((each) => additionOf(agent, each, pair.after.agent)),
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

/** Sources of `run.taint` that are gone, but whose MCP tool is still there under another name and is none any more. */
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

/** What became of a tool as a source of `run.taint`. */
export function taintChange(told: ChangePlace, was: boolean, is: boolean, how = ''): readonly VersionChange[] {
  if (was === is) return []
  return [
    is
      ? versionChange('taint_source.added', {
          ...told,
          to: 'untrusted',
          say: `${told.tool}: its results set run.taint now`,
        })
      : versionChange('taint_source.dropped', {
          ...told,
          from: 'untrusted',
          say: `${told.tool}${how}: its results no longer set run.taint, so gates on it no longer fire`,
        }),
  ]
}

/** What an agent that was not there before brings along. */
export const newAgentChanges = (closure: ComparedClosure, agent: AgentSnapshot): readonly VersionChange[] =>
  calleesOf(closure, agent).map((each) => additionOf(agent.id, each, agent))

function additionOf(agent: string, callee: ComparedCallee, snapshot: AgentSnapshot): VersionChange {
  const policies = entriesFor({ own: snapshot.policies, ancestors: [] }, callee).map(({ policy }) => policy)
  const guarded = policies.length > 0 ? `policies ${[...new Set(policies)].sort().join(', ')}` : 'no policy'
  const told = { agent, tool: callee.id, to: callee.id }
  if (callee.kind === 'agent')
    return callee.late
      ? versionChange('agent.added', {
          ...told,
          widens: true,
          say: `sub-agent ${callee.id} added, late bound: what it may do is not known`,
        })
      : versionChange('agent.added', { ...told, say: `sub-agent ${callee.id} added` })
  const sideEffects = callee.sideEffectClass ?? 'undeclared class'
  return versionChange('tool.added', {
    ...told,
    widens: callee.sideEffectClass !== 'read_only',
    say: `${callee.id} added (${sideEffects}), ${guarded}`,
  })
}

/** The same thing in both versions: by id, and where one is bound several times, by wire name first. */
function match(
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
  const told = { agent, tool: is.id }
  const ways = chainsOf(pair).map(
    ([before, after]) =>
      [
        { callee: was, sets: { own: was.agent.policies, ancestors: before } },
        { callee: is, sets: { own: is.agent.policies, ancestors: after } },
      ] as const,
  )
  const { verdict, witness } = worst(ways.map(([before, after]) => compareAuthority(before, after)))
  const [above, below] = ways[0]!.map(({ callee, sets }) => entriesFor(sets, callee)) as [
    readonly PolicyEntry[],
    readonly PolicyEntry[],
  ]
  const [fewer, more] = [without(above, below), without(below, above)]
  const [from, to] = [fewer, more].map((entries) => entries.map(sayEntry).sort().join('; ') || null)
  const path = pathOf([...more, ...fewer])
  const changes: VersionChange[] = []
  if (verdict === 'loosened' || verdict === 'not_proven') {
    const how = verdict === 'loosened' ? `looser; ${witness ? sayWitness(witness) : ''}` : 'not proven to be as strict'
    changes.push(
      versionChange('authority.widened', {
        ...told,
        verdict,
        ...(witness && { witness }),
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${arrow(from!, to!)}${how}`,
      }),
    )
  } else if (verdict === 'tightened')
    changes.push(
      versionChange('authority.narrowed', {
        ...told,
        verdict,
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${arrow(from!, to!)}stricter`,
      }),
    )
  else if (fewer.length > 0 || more.length > 0)
    changes.push(
      versionChange('authority.equal', {
        ...told,
        verdict,
        from: from!,
        to: to!,
        path,
        say: `${is.id}: ${arrow(from!, to!)}as strict as before`,
      }),
    )
  // Gates of ancestors are told of the ancestor.
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
          isGate(entry) && !names.has(entry.policy) && entry.origin.some((origin) => isTold(origin, boundaries)),
      )
      .map(({ policy }) => policy),
  )
  for (const policy of [...removed].sort())
    changes.push(
      versionChange('gate.removed', {
        ...told,
        from: policy,
        path: pathOf(old.filter((entry) => entry.policy === policy)),
        say: `${is.id}: the policy ${policy} no longer applies`,
      }),
    )
  return changes
}

/** Removals of defaults and boundaries are told once for the agent; one that stood in for a boundary's policy is no policy. */
const isTold = ({ kind, boundary }: PolicyOrigin, boundaries: ReadonlySet<string>): boolean =>
  kind !== 'default' && kind !== 'synthetic' && (kind !== 'boundary' || boundaries.has(boundary!))

const isGate = ({ effect }: PolicyEntry): boolean => effect !== 'grant'

const arrow = (from: string | null, to: string | null): string =>
  from === null && to === null ? '' : `${sayTransition(from ?? 'no policy', to ?? 'no policy')}, `

function without(entries: readonly PolicyEntry[], others: readonly PolicyEntry[]): readonly PolicyEntry[] {
  const ids = new Set(others.map(({ id }) => id))
  return entries.filter(({ id }) => !ids.has(id))
}

function pathOf(entries: readonly PolicyEntry[]): string | null {
  const origin = entries.flatMap((entry) => entry.origin).find(({ path }) => path !== undefined)
  if (origin?.path === undefined) return null
  return origin.line === undefined ? origin.path : `${origin.path}:${origin.line}`
}

const SERIOUS: readonly AuthorityVerdict[] = ['loosened', 'not_proven', 'tightened', 'equal']

const worst = (all: readonly AuthorityComparison[]): AuthorityComparison =>
  all.reduce((a, b) => (SERIOUS.indexOf(b.verdict) < SERIOUS.indexOf(a.verdict) ? b : a))

/** Ways from the root to one agent that are compared; more of them repeat what these say. */
const MAX_CHAINS = 8

type Chain = readonly AgentSnapshot[]

/** The ancestors under which the agent runs in both versions, way by way. */
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
  const told = { agent: is.agent.id, tool: is.id }
  const changes: VersionChange[] = []
  if (was.wire !== is.wire)
    changes.push(
      versionChange('wire_name.changed', {
        ...told,
        from: was.wire,
        to: is.wire,
        say: `${is.id}: called ${was.wire} → ${is.wire}`,
      }),
    )
  changes.push(...classChange(told, was.sideEffectClass, is.sideEffectClass))
  changes.push(...inputChanges(told, together(was.schemas), together(is.schemas)))
  const [tool, other] = [was, is].map(({ agent, wire }) => agent.tools.find((each) => each.wire === wire))
  if (tool && other) changes.push(...toolChanges(told, tool, other))
  const [edge, next] = [was, is].map(({ agent, wire }) => agent.agents.find((each) => each.wire === wire))
  if (edge && next) changes.push(...edgeChanges(told, edge, next))
  return changes
}

export function classChange(
  told: ChangePlace,
  was: SideEffectClass | undefined,
  is: SideEffectClass | undefined,
): readonly VersionChange[] {
  const raised = rankOf(is) - rankOf(was)
  if (raised === 0) return []
  const [from, to] = [was ?? 'undeclared', is ?? 'undeclared']
  return [
    versionChange(raised > 0 ? 'class.raised' : 'class.lowered', {
      ...told,
      from,
      to,
      say: `${told.tool}: ${from} → ${to}`,
    }),
  ]
}

interface ChangePlace {
  readonly agent: string
  readonly tool?: string
}

/** What became of an input. A new optional property narrows nothing, though an open object may have carried one by that name. */
export function inputChanges(told: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = told.tool === undefined ? 'input' : `${told.tool}: input`
  if (!acceptsAll(after, before, true))
    return [
      versionChange('input.narrowed', {
        ...told,
        say: `${name} accepts less than before, or is not proven to accept as much`,
      }),
    ]
  if (!acceptsAll(before, after))
    return [versionChange('input.widened', { ...told, say: `${name} accepts more than before` })]
  return acceptsAll(after, before)
    ? []
    : [versionChange('input.widened', { ...told, say: `${name} describes more than before` })]
}

export function outputChanges(told: ChangePlace, before: JsonSchema, after: JsonSchema): readonly VersionChange[] {
  const name = told.tool === undefined ? 'output' : `${told.tool}: output`
  const verdict = compareSchemas(before, after)
  if (verdict === 'equal') return []
  return verdict === 'narrowed'
    ? [versionChange('output.narrowed', { ...told, say: `${name} is stricter` })]
    : [
        versionChange('output.widened', {
          ...told,
          say: `${name} guarantees less than before, or is not proven to guarantee as much`,
        }),
      ]
}

const together = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 0 ? true : schemas.length === 1 ? schemas[0]! : { allOf: [...schemas] }

/** An undeclared class is treated as unsafe, but asks for no approval. */
const CLASSES: readonly (SideEffectClass | undefined)[] = [
  'read_only',
  'idempotent_write',
  'non_idempotent_write',
  undefined,
  'irreversible_action',
]

const rankOf = (sideEffects: SideEffectClass | undefined): number => CLASSES.indexOf(sideEffects)

function toolChanges(told: ChangePlace, was: BoundTool, is: BoundTool): readonly VersionChange[] {
  const changes = [
    ...taintChange(told, isTaintSource(was), isTaintSource(is)),
    ...outputChanges(told, was.outputSchema ?? true, is.outputSchema ?? true),
  ]
  const [from, to] = [was, is].map(({ mcp }) => (mcp ? `${mcp.server}/${mcp.tool}` : 'no MCP server')) as [
    string,
    string,
  ]
  if (from !== to)
    changes.push(versionChange('tool.route', { ...told, from, to, say: `${told.tool}: ${from} → ${to}` }))
  const [before, after] = [was.mcp?.integrity, is.mcp?.integrity]
  if (from === to && before !== undefined && before !== after)
    changes.push(
      versionChange(after === undefined ? 'mcp_tool.unpinned' : 'mcp_tool.changed', {
        ...told,
        from: before,
        to: after ?? null,
        say: `${told.tool}: ${after === undefined ? 'what its MCP server says of it is no longer pinned' : 'its MCP server describes it otherwise'}`,
      }),
    )
  if (was.version !== is.version)
    changes.push(
      versionChange('tool.version', {
        ...told,
        from: was.version,
        to: is.version,
        say: `${told.tool} ${was.version} → ${is.version}`,
      }),
    )
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...told, say: `${told.tool}: description` }))
  if (canonicalJson(was.labels) !== canonicalJson(is.labels))
    changes.push(
      versionChange('metadata.changed', {
        ...told,
        from: { ...was.labels },
        to: { ...is.labels },
        say: `${told.tool}: labels`,
      }),
    )
  return changes
}

function edgeChanges(told: ChangePlace, was: BoundAgent, is: BoundAgent): readonly VersionChange[] {
  const changes: VersionChange[] = []
  if (was.lateBound !== is.lateBound)
    changes.push(
      is.lateBound
        ? versionChange('edge.late_bound', {
            ...told,
            from: was.version ?? null,
            say: `sub-agent ${is.id} is late bound: what it may do is not known`,
          })
        : versionChange('edge.pinned', {
            ...told,
            to: is.version ?? null,
            say: `sub-agent ${is.id} is pinned to ${is.version}`,
          }),
    )
  else if (was.version !== undefined && is.version !== undefined && was.version !== is.version) {
    const kind = major(is.version) > major(was.version) ? 'child.major' : 'child.version'
    changes.push(
      versionChange(kind, {
        ...told,
        from: was.version,
        to: is.version,
        say: `sub-agent ${is.id} ${was.version} → ${is.version}`,
      }),
    )
  }
  if (was.result !== is.result)
    changes.push(
      versionChange('result.changed', {
        ...told,
        from: was.result,
        to: is.result,
        say: `${is.id}: result ${was.result} → ${is.result}`,
      }),
    )
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...told, say: `sub-agent ${is.id}: description` }))
  return changes
}
