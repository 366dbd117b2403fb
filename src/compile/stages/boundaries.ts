/** Authority boundaries as policies. Source: docs/design/policies.md#which-policies-apply */
import type { JsonObject } from '../../base/json/json.ts'
import type { EntryContent } from './entries.ts'
import { resolvePolicyDocument } from './resolve-policy.ts'
import type { CompileState } from '../state/state.ts'

/**
 * Fills `state.boundaries`: policies by the boundary that their `authority_ref` names. These are all policies of the
 * bundle, attached or not, and those that the closure takes from the registry.
 */
export function bindBoundaries(state: CompileState): void {
  const { subject, workspace, members } = state
  if (!subject || members.length === 0) return
  const declared = new Set(members.flatMap(({ agent }) => agent.metadata.governance?.authority_boundaries ?? []))
  for (const document of workspace.publishedTogether(subject)) {
    const boundary = document.kind === 'Policy' ? document.at('spec.decision.authority_ref')[0]?.value : undefined
    if (typeof boundary === 'string' && declared.has(boundary)) resolvePolicyDocument(state, document)
  }
  for (const resolvedPolicy of state.resolvedPolicies.values()) {
    const boundary = resolvedPolicy.policy.spec.decision?.authority_ref
    if (boundary !== undefined && declared.has(boundary))
      state.boundaries.set(boundary, [...(state.boundaries.get(boundary) ?? []), resolvedPolicy])
  }
}

/** Replaces a boundary without a policy: one approval for every call above `read_only`, of this agent and below it. */
export const syntheticBoundary = (boundary: string): EntryContent => ({
  policy: `svc.${boundary}`,
  version: '1.0.0',
  effect: 'require_approval',
  when: ABOVE_READ_ONLY,
  obligations: {},
  reason: `No policy says what the authority boundary "${boundary}" allows.`,
  authority_ref: boundary,
})

/** An undeclared class counts as above `read_only`; for a delegation, the calls of the sub-agent are decided. In canonical form. */
const ABOVE_READ_ONLY: JsonObject = {
  all: [
    { field: 'tool.kind', op: 'ne', value: 'agent' },
    { field: 'tool.side_effect_class', op: 'ne', value: 'read_only', if_missing: true },
  ],
}
