/** What changed about a tool or sub-agent that both versions of an agent bind. */
import { major } from 'semver'
import type { SideEffectClass } from '../spec/document.ts'
import { isTaintSource, type BoundAgent, type BoundTool, type JsonSchema } from '../spec/snapshot.ts'
import type { ComparedCallee } from './callee.ts'
import { valueChange, versionChange, type ChangePlace, type VersionChange } from './change.ts'
import { inputChanges, outputChanges } from './contract.ts'
import { undoChanges } from './undo.ts'
import { onlyItem } from '../base/values/collections.ts'
import { EFFECT_KEY, effectRepeatOf, effectWindowOf } from '../policy/condition/effect-key.ts'

export function bindingChanges(was: ComparedCallee, is: ComparedCallee): readonly VersionChange[] {
  const place = { agent: is.agent.id, tool: is.id }
  const changes = [
    ...valueChange('wire_name.changed', place, was.wire, is.wire, `${is.id}: called ${was.wire} → ${is.wire}`),
    ...classChange(place, was.sideEffectClass, is.sideEffectClass),
    ...inputChanges(place, combineSchemas(was.schemas), combineSchemas(is.schemas)),
  ]
  const [tool, other] = [was, is].map(({ agent, wire }) => agent.tools.find((each) => each.wire === wire))
  if (tool && other) changes.push(...toolChanges(place, tool, other))
  const [edge, next] = [was, is].map(({ agent, wire }) => agent.agents.find((each) => each.wire === wire))
  if (edge && next) changes.push(...edgeChanges(place, edge, next))
  return changes
}

const combineSchemas = (schemas: readonly JsonSchema[]): JsonSchema =>
  schemas.length === 0 ? true : (onlyItem(schemas) ?? { allOf: [...schemas] })

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
  const kind = rankOf(is) > rankOf(was) ? 'class.raised' : 'class.lowered'
  const [from, to] = [was ?? 'undeclared', is ?? 'undeclared']
  return valueChange(kind, place, from, to, `${place.tool}: ${from} → ${to}`)
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
  const { tool } = place
  const [from, to] = [was, is].map(({ mcp }) => (mcp ? `${mcp.server}/${mcp.tool}` : 'no MCP server')) as [
    string,
    string,
  ]
  const changes = [
    ...taintChange(place, isTaintSource(was), isTaintSource(is)),
    ...effectChanges(place, was, is),
    ...undoChanges(place, was.labels, is.labels),
    ...outputChanges(place, was.outputSchema ?? true, is.outputSchema ?? true),
    ...valueChange('tool.route', place, from, to, `${tool}: ${from} → ${to}`),
  ]
  const [before, after] = [was.mcp?.integrity, is.mcp?.integrity]
  const [kind, how] =
    after === undefined
      ? (['mcp_tool.unpinned', 'is no longer pinned'] as const)
      : (['mcp_tool.changed', 'changed'] as const)
  if (from === to && before !== undefined)
    changes.push(...valueChange(kind, place, before, after, `${tool}: its description by the MCP server ${how}`))
  changes.push(...valueChange('tool.version', place, was.version, is.version, `${tool} ${was.version} → ${is.version}`))
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...place, say: `${place.tool}: description` }))
  changes.push(...valueChange('metadata.changed', place, { ...was.labels }, { ...is.labels }, `${tool}: labels`))
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
  else if (was.version !== undefined && is.version !== undefined) {
    const kind = major(is.version) > major(was.version) ? 'child.major' : 'child.version'
    const say = `sub-agent ${is.id} ${was.version} → ${is.version}`
    changes.push(...valueChange(kind, place, was.version, is.version, say))
  }
  changes.push(
    ...valueChange('result.changed', place, was.result, is.result, `${is.id}: result ${was.result} → ${is.result}`),
  )
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...place, say: `sub-agent ${is.id}: description` }))
  return changes
}

function effectChanges(place: ChangePlace, was: BoundTool, is: BoundTool): readonly VersionChange[] {
  const [from, to] = [was.labels[EFFECT_KEY], is.labels[EFFECT_KEY]]
  const change = (isLooser: boolean, before: string | null, after: string | null, what: string): VersionChange =>
    versionChange(isLooser ? 'effect_key.loosened' : 'effect_key.tightened', {
      ...place,
      from: before,
      to: after,
      say: `${place.tool}: ${what}`,
    })
  if (to === undefined)
    return from === undefined ? [] : [change(true, from, null, `no effect key: what ${from} named can be done twice`)]
  if (from === undefined) return [change(false, null, to, `effect key ${to}: a repetition is stopped`)]
  // Calls that took a key under another text are not found under the new one.
  if (from !== to) return [change(true, from, to, `effect key ${from} → ${to}: earlier calls are not found`)]
  const changes: VersionChange[] = []
  const [before, after] = [was, is].map(({ labels }) => effectWindowOf(labels) ?? Infinity) as [number, number]
  if (before !== after)
    changes.push(change(after < before, windowText(was), windowText(is), `effect key held for ${windowText(is)}`))
  const repeatOf = ({ labels, sideEffectClass }: BoundTool) => effectRepeatOf(labels, sideEffectClass)
  const [old, now] = [repeatOf(was), repeatOf(is)]
  if (old !== now)
    changes.push(change(STRICTNESS.indexOf(now) > STRICTNESS.indexOf(old), old, now, `a repetition: ${old} → ${now}`))
  return changes
}

/** `return` does nothing again, so it lets less happen than `ask`. */
const STRICTNESS = ['refuse', 'return', 'ask'] as const

const windowText = ({ labels }: BoundTool): string => labels['svc/effect-window'] ?? 'ever'
