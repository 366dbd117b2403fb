/**
 * What one version may do that another could not, and everything else that differs.
 * Source: docs/design/prover.md#comparing-two-versions
 */
import { finishWork, type DividedWork } from '../base/event-loop.ts'
import { agentChanges } from './agent.ts'
import { versionChange, differenceOf, type VersionChange, type VersionDifference } from './change.ts'
import type { ComparedClosure } from './closure.ts'
import { isTaintSource, type AgentSnapshot } from '../spec/snapshot.ts'
import { bindingChanges, taintChange } from './binding.ts'
import { callAuthorityChanges, type AgentPair } from './call-authority.ts'
import { calleesOf, entriesFor, type ComparedCallee } from './callee.ts'

/** Compares two closures agent by agent. Agents match by id. */
export const diffClosures = (before: ComparedClosure, after: ComparedClosure): VersionDifference =>
  finishWork(compareClosures(before, after))

/** As `diffClosures`, one call per step: a server answers others in between. */
export function* compareClosures(before: ComparedClosure, after: ComparedClosure): DividedWork<VersionDifference> {
  const changes: VersionChange[] = []
  if (before.root.id !== after.root.id)
    changes.push(
      versionChange('agent.replaced', {
        agent: after.root.id,
        from: before.root.id,
        to: after.root.id,
        say: `the root is another agent: ${before.root.id} → ${after.root.id}`,
      }),
    )
  for (const agent of after.agents.values()) {
    const earlier = before.agents.get(agent.id)
    if (!earlier) changes.push(...newAgentChanges(after, agent))
    // An unchanged agent may have other ancestors, whose gates apply to it.
    else {
      const pair = { before: { closure: before, agent: earlier }, after: { closure: after, agent } }
      changes.push(...(yield* callChanges(pair)))
      changes.push(...agentChanges(earlier, agent))
    }
    yield
  }
  const { root } = after
  if (changes.length === 0 && before.root.digest !== root.digest)
    changes.push(
      versionChange('content.changed', {
        agent: root.id,
        from: before.root.digest,
        to: root.digest,
        say: 'only the version, or names of policies',
      }),
    )
  return differenceOf(changes)
}

function* callChanges(pair: AgentPair): DividedWork<readonly VersionChange[]> {
  const agent = pair.after.agent.id
  const [old, now] = [pair.before, pair.after].map(({ closure, agent }) => calleesOf(closure, agent)) as [
    readonly ComparedCallee[],
    readonly ComparedCallee[],
  ]
  const matched = matchCallees(old, now)
  const gone = old.filter((each) => !matched.some(([was]) => was === each))
  const added = now.filter((each) => !matched.some(([, is]) => is === each))
  const changed: VersionChange[] = []
  for (const [was, is] of matched) {
    changed.push(...callAuthorityChanges(pair, was, is), ...bindingChanges(was, is))
    yield
  }
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
    ...changed,
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

/** The changes that a newly added agent brings. */
const newAgentChanges = (closure: ComparedClosure, agent: AgentSnapshot): readonly VersionChange[] =>
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
