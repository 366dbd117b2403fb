/** Tool and sub-agent bindings with the documents they name. Source: docs/design/bundles-and-authority.md#references */
import { rcompare } from 'semver'
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { SIDE_EFFECT_CLASSES, type SideEffectClass } from '../../../spec/document.ts'
import { mappingIn, type Document, type IdentifiedDocument } from '../../text/document.ts'
import { groupBy } from '../../../base/values/collections.ts'
import { memoizePerObject } from '../../workspace/memoize.ts'
import { pointerTo } from '../../../base/json/pointer.ts'
import {
  BUILTIN_TOOLS,
  deriveWireName,
  fitsRange,
  isVersion,
  readAgentRef,
  readLogicalRef,
  type LogicalRef,
} from '../../text/reference.ts'
import type { Workspace } from '../../workspace/workspace.ts'

export interface CallBinding {
  /** Of the binding in its document. */
  readonly pointer: string
  readonly value: JsonObject
  readonly agent: Document
}

export interface ToolUse extends CallBinding {
  /** Undefined when `ref` is no logical id with an optional range. */
  readonly ref: LogicalRef | undefined
  readonly builtin: boolean
}

export const textMember = (object: JsonObject, key: string): string | undefined => {
  const value = object[key]
  return typeof value === 'string' ? value : undefined
}

/** `spec.tools[]` of an agent, those that are mappings. */
export const toolsOf = (agent: Document): readonly ToolUse[] => agent.memoize(readTools)

const readTools = (agent: Document): readonly ToolUse[] =>
  bindingsAt(agent, 'tools').map(({ pointer, value }) => {
    const ref = readLogicalRef(textMember(value, 'ref') ?? '')
    return { pointer, value, agent, ref, builtin: ref !== undefined && BUILTIN_TOOLS.includes(ref.id) }
  })

/** Bindings of an agent that call a tool, by its logical id. */
export const usesOf = (agent: Document, id: string): readonly ToolUse[] => agent.memoize(usesById).get(id) ?? NO_USES

const usesById = (agent: Document): ReadonlyMap<string | undefined, readonly ToolUse[]> =>
  groupBy(toolsOf(agent), ({ ref }) => ref?.id)

const NO_USES: readonly ToolUse[] = []

/** `spec.agents[]` of an agent, those that are mappings. */
export const subAgentsOf = (agent: Document): readonly CallBinding[] => agent.memoize(readSubAgents)

const readSubAgents = (agent: Document): readonly CallBinding[] => bindingsAt(agent, 'agents')

function bindingsAt(agent: Document, key: 'tools' | 'agents'): CallBinding[] {
  if (agent.kind !== 'Agent') return []
  const list = mappingIn(agent, 'spec')[key]
  return (Array.isArray(list) ? list : []).flatMap((value, at) =>
    isJsonObject(value) ? [{ pointer: pointerTo(`/spec/${key}`, at), value, agent }] : [],
  )
}

/** The Tool document that a binding gets from the workspace: the highest version that its range allows. */
export const toolDocument = memoizePerObject((workspace, use: ToolUse): IdentifiedDocument | undefined => {
  if (use.ref === undefined) return undefined
  const { id, range } = use.ref
  const fitting = workspace
    .find(use.agent, 'Tool', id)
    .filter(({ identity }) => isVersion(identity.version) && fitsRange(identity.version, range))
  if (fitting.length > 1) fitting.sort((a, b) => rcompare(a.identity.version, b.identity.version))
  return fitting[0]
})

/** The Agent document that a sub-agent binding names by path; undefined for other references, or when there is none. */
export const subAgentDocument = memoizePerObject((workspace, edge: CallBinding): Document | undefined => {
  const ref = readAgentRef(textMember(edge.value, 'ref') ?? '')
  if (ref.form !== 'path' || edge.value['late_bound'] === true) return undefined
  const found = workspace.resolve(edge.agent, ref.path)
  return 'path' in found ? workspace.documentsAt(found.path).find(({ kind }) => kind === 'Agent') : undefined
})

/** The tool name that the model sees; undefined when neither `as` nor `ref` gives one. */
export function wireNameOf(workspace: Workspace, binding: CallBinding): string | undefined {
  const as = textMember(binding.value, 'as')
  if (as !== undefined) return as
  const ref = textMember(binding.value, 'ref') ?? ''
  if (isToolUse(binding)) return derived(binding.ref?.name)
  const target = readAgentRef(ref)
  if (target.form === 'path' || target.form === 'versioned-path')
    return derived(subAgentDocument(workspace, binding)?.identity?.name)
  return derived(readLogicalRef(ref)?.name)
}

const isToolUse = (binding: CallBinding): binding is ToolUse => 'builtin' in binding

const derived = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : deriveWireName(name)

export const readSideEffectClass = (value: JsonValue | undefined): SideEffectClass | undefined =>
  isClass(value) ? value : undefined

const isClass = (value: JsonValue | undefined): value is SideEffectClass =>
  typeof value === 'string' && (SIDE_EFFECT_CLASSES as readonly string[]).includes(value)

/** The class of a binding: the stricter of its own and the Tool document's; undefined when neither declares one. */
export const effectiveClass = memoizePerObject((workspace, use: ToolUse): SideEffectClass | undefined => {
  const own = readSideEffectClass(use.value['side_effect_class'])
  const declared = declaredClass(toolDocument(workspace, use))
  if (own === undefined || declared === undefined) return own ?? declared
  return sideEffectRank(own) > sideEffectRank(declared) ? own : declared
})

/** The description of a Tool document. */
export const descriptionOf = (tool: Document): string | undefined => textMember(mappingIn(tool, 'spec'), 'description')

export const declaredClass = (tool: Document | undefined): SideEffectClass | undefined =>
  tool && readSideEffectClass(mappingIn(tool, 'spec')['side_effect_class'])

/** From harmless to irreversible. */
export const sideEffectRank = (each: SideEffectClass): number => SIDE_EFFECT_CLASSES.indexOf(each)
