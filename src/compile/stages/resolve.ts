/**
 * Resolves the tools and policies of the closure: from the bundle first, then from the registry.
 * Source: docs/design/bundles-and-authority.md#references
 */
import type { BundleAgent, CompileState } from '../state/state.ts'
import { readGuardrail, resolveAttachments, resolvePolicyDocument } from './resolve-policy.ts'
import { contractOf, resolveTool } from './resolve-tool.ts'

export async function resolveReferences(state: CompileState): Promise<void> {
  state.guardrailPolicies = state.guardrails.flatMap((path, index) => readGuardrail(state, path, index) ?? [])
  const { subject } = state
  if (subject?.kind === 'Tool') await contractOf(state, subject)
  if (subject?.kind === 'Policy') resolvePolicyDocument(state, subject)
  for (const member of state.members) await resolveMember(state, member)
}

async function resolveMember(state: CompileState, member: BundleAgent): Promise<void> {
  const { document, agent } = member
  member.defaults = await resolveAttachments(state, document, '/spec/default_policies', agent.spec.default_policies)
  for (const [index, binding] of (agent.spec.tools ?? []).entries()) {
    const at = { document, pointer: `/spec/tools/${index}` }
    const resolved = await resolveTool(state, binding, at)
    if (resolved)
      member.bindings.push({
        ...resolved,
        policies: await resolveAttachments(state, document, `${at.pointer}/policies`, binding.policies),
      })
  }
  for (const edge of member.edges)
    edge.policies = await resolveAttachments(state, document, `${edge.at.pointer}/policies`, edge.binding.policies)
}
