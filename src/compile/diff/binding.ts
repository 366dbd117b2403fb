/** What changed about a tool or sub-agent that both versions of an agent bind. */
import { major } from 'semver'
import { canonicalJson } from '../../base/json/json.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import { isTaintSource, type BoundAgent, type BoundTool, type JsonSchema } from '../../spec/snapshot.ts'
import type { ComparedCallee } from './callee.ts'
import { versionChange, type ChangePlace, type VersionChange } from './change.ts'
import { inputChanges, outputChanges } from './contract.ts'
import { effectChanges } from './effect-key.ts'

export function bindingChanges(was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
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

const combineSchemas = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 0 ? true : schemas.length === 1 ? schemas[0]! : { allOf: [...schemas] }

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
    ...effectChanges(place, was, is),
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
