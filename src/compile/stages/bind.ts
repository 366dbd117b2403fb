/** Wire names of tools and sub-agents, and what each is bound to. Source: docs/design/models-and-tools.md#where-a-tool-runs */
import { deriveWireName, WIRE_NAME } from '../../documents/text/reference.ts'
import { SIDE_EFFECT_CLASSES, type SideEffectClass } from '../../spec/document.ts'
import type { BoundAgent, BoundTool } from '../../spec/snapshot.ts'
import {
  failUnchecked,
  reportFinding,
  type ResolvedTool,
  type ResolvedSubAgent,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

/** Tools that the engine offers in addition while sub-agents ask their parent. Source: docs/design/models-and-tools.md#sub-agents */
const RESERVED = ['ask_parent', 'answer_subagent', 'escalate_to_person']

export function bindTools(state: CompileState): void {
  for (const member of state.members) {
    const taken = new Map<string, string>(RESERVED.map((name) => [name, 'the engine']))
    for (const each of member.bindings) {
      const wire = wireName(state, taken, each.binding.as, each.ref.name, each.binding.ref, each.at)
      if (wire !== undefined) each.bound = boundTool(each, wire)
    }
    for (const each of member.edges) {
      const wire = wireName(state, taken, each.binding.as, nameOf(each), each.binding.ref, each.at)
      if (wire !== undefined) each.bound = boundAgent(each, wire)
    }
  }
}

function wireName(
  state: CompileState,
  taken: Map<string, string>,
  as: string | undefined,
  name: string,
  ref: string,
  at: DocumentPlace,
): string | undefined {
  const wire = as ?? deriveWireName(name)
  const place = { document: at.document, pointer: `${at.pointer}/${as === undefined ? 'ref' : 'as'}` }
  if (!WIRE_NAME.test(wire)) return failUnchecked('tool/wire-name-invalid', place)
  const other = taken.get(wire)
  if (other !== undefined)
    return reportFinding(state, 'tool/wire-name-collision', place, `"${wire}" already names ${other} in this agent.`, {
      fix: 'Give one of them another name with `as`.',
    })
  taken.set(wire, ref)
  return wire
}

function nameOf({ target }: ResolvedSubAgent): string {
  if (target.at === 'local') return target.member.agent.metadata.name
  const id = target.at === 'late' ? target.id : target.snapshot.id
  return id.slice(id.lastIndexOf('.') + 1)
}

function boundTool({ binding, ref, contract, builtin, input }: ResolvedTool, wire: string): BoundTool {
  const shown = input ?? contract?.input ?? builtin?.inputSchema
  const schemas = [input, contract?.input ?? builtin?.inputSchema].filter((schema) => schema !== undefined)
  const { mcp } = binding
  const output = contract?.output
  const effective = stricterClass(
    binding.side_effect_class,
    contract ? contract.tool.spec.side_effect_class : builtin?.sideEffectClass,
  )
  return {
    wire,
    id: ref.id,
    version: contract?.published.version ?? builtin?.version ?? '',
    description: binding.description ?? contract?.tool.spec.description ?? builtin?.description ?? '',
    ...(shown !== undefined && { inputSchema: shown }),
    inputSchemas: schemas,
    ...(output !== undefined && { outputSchema: output }),
    ...(effective && { sideEffectClass: effective }),
    labels: contract?.tool.metadata.labels ?? {},
    ...(mcp && { mcp: { server: mcp.server, tool: mcp.tool ?? wire } }),
    ...(builtin && { builtin: true }),
  }
}

function boundAgent({ binding, target, input }: ResolvedSubAgent, wire: string): Omit<BoundAgent, 'digest'> {
  const common = { wire, ...(input !== undefined && { inputSchema: input }), result: binding.result ?? 'summary' }
  if (target.at === 'late') return { ...common, id: target.id, lateBound: true, description: binding.description ?? '' }
  const [id, purpose] =
    target.at === 'local'
      ? [target.member.id, target.member.agent.spec.purpose]
      : [target.snapshot.id, target.snapshot.purpose]
  return { ...common, id, lateBound: false, description: binding.description ?? purpose }
}

/** The stricter of two classes; an undeclared class does not count. */
function stricterClass(a: SideEffectClass | undefined, b: SideEffectClass | undefined): SideEffectClass | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return SIDE_EFFECT_CLASSES[Math.max(SIDE_EFFECT_CLASSES.indexOf(a), SIDE_EFFECT_CLASSES.indexOf(b))]
}
