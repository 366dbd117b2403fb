/** Authority boundaries as policies. Source: policies, section 6. */
import type { JsonObject } from '../../base/json.ts'
import type { Document } from '../../documents/text/document.ts'
import type { EntryContent } from './entries.ts'
import { rulebookOf } from './resolve.ts'
import { reportFinding, type CompileState } from '../state/state.ts'

/**
 * Fills `work.boundaries`: policies by the boundary that their `authority_ref` names, all of the bundle, attached or not, and
 * those that the closure takes from the registry. What names a boundary that no agent declares is reported.
 */
export function bindBoundaries(work: CompileState): void {
  const { subject, workspace, members } = work
  if (!subject || members.length === 0) return
  const declared = new Set(members.flatMap(({ agent }) => agent.metadata.governance?.authority_boundaries ?? []))
  for (const document of workspace.neighbours(subject)) {
    const boundary = document.kind === 'Policy' ? document.at('spec.decision.authority_ref')[0]?.value : undefined
    if (typeof boundary !== 'string') continue
    if (declared.has(boundary)) rulebookOf(work, document)
    else reportOrphan(work, document, boundary)
  }
  for (const rulebook of work.rulebooks.values()) {
    const boundary = rulebook.policy.spec.decision?.authority_ref
    if (boundary !== undefined && declared.has(boundary))
      work.boundaries.set(boundary, [...(work.boundaries.get(boundary) ?? []), rulebook])
  }
}

const reportOrphan = (work: CompileState, document: Document, boundary: string): undefined =>
  reportFinding(
    work,
    'authority/orphan-ref',
    { document, pointer: '/spec/decision/authority_ref' },
    `No agent of this bundle declares the authority boundary "${boundary}".`,
    { severity: 'warning' },
  )

/** Stands in for a boundary without a policy: one approval for every call above `read_only`, of this agent and below it. */
export const syntheticBoundary = (boundary: string): EntryContent => ({
  policy: `svc.${boundary}`,
  version: '1.0.0',
  effect: 'require_approval',
  when: ABOVE_READ_ONLY,
  obligations: {},
  reason: `No policy says what the authority boundary "${boundary}" allows.`,
  authority_ref: boundary,
})

/** A class that nobody declared is above `read_only`; a delegation is judged by what the child calls. Written canonically. */
const ABOVE_READ_ONLY: JsonObject = {
  all: [
    { field: 'tool.kind', op: 'ne', value: 'agent' },
    { field: 'tool.side_effect_class', op: 'ne', value: 'read_only', if_missing: true },
  ],
}
