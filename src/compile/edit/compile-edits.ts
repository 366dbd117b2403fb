/**
 * Puts edited Policy documents in the place of those of the same name in compiled sets; a new policy applies to every call in
 * its scope. `svc policy backtest` and the console decide by the same sets.
 */
import type { DividedWork } from '../../base/event-loop.ts'
import { fail } from '../../base/failure.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { Document } from '../../documents/text/document.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import type { WrittenFinding } from '../../spec/explanation.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { AgentSnapshot } from '../../spec/snapshot.ts'
import { compileUnattachedPolicies, type PolicyTarget } from '../unattached.ts'
import { openEditedWorkspace, type EditedTexts } from './edited-workspace.ts'
import { findingsOfEdits, toWrittenFinding } from './lint-edits.ts'
import { substitutePolicies } from './substitute.ts'

/** The pieces are reading, linting and compiling. */
export function* compileEditedPolicies(texts: EditedTexts): DividedWork<{
  readonly findings: readonly WrittenFinding[]
  /** Absent where an edited document cannot be compiled. */
  readonly policiesOf?: (snapshot: AgentSnapshot) => PolicySet
}> {
  const workspace = openEditedWorkspace(texts)
  yield
  const findings = findingsOfEdits(workspace, texts)
  yield
  const documents = workspace.documents.filter(({ kind, path }) => kind === 'Policy' && texts.edited.includes(path))
  const trial = compileUnattachedPolicies(workspace, documents, 'svc.nobody', [])
  // Lint errors do not stop the comparison; only a document that cannot be read or compiled does, as in
  // `svc policy backtest`.
  const faults = [...workspace.findings.filter(({ path }) => texts.edited.includes(path)), ...trial.findings]
    .filter(({ severity }) => severity === 'error')
    .map(toWrittenFinding)
  if (faults.length > 0 || !trial.set)
    return { findings: findings.some(({ severity }) => severity === 'error') ? findings : [...findings, ...faults] }
  return {
    findings,
    policiesOf(snapshot) {
      const { set, findings: faults } = editedPoliciesOf(snapshot, workspace, documents)
      if (set) return set
      const [first] = faults
      const place = first ? ` (${first.path}:${first.range.start.line})` : ''
      throw fail('validation_failed', {
        what: `The edited policies do not fit ${snapshot.id}@${snapshot.version}: ${first?.message ?? 'they cannot be compiled.'}${place}`,
      })
    },
  }
}

/** The set of a version with the documents in it; absent where one has an error for a call of this version. */
export function editedPoliciesOf(
  snapshot: AgentSnapshot,
  workspace: Workspace,
  documents: readonly Document[],
): { readonly set?: PolicySet; readonly findings: readonly Diagnostic[] } {
  const { set, findings } = compileUnattachedPolicies(workspace, documents, snapshot.id, targetsOf(snapshot))
  return set ? { set: substitutePolicies(snapshot.policies, set), findings } : { findings }
}

/** The calls of an agent that its policies decide. */
const targetsOf = ({ tools, agents }: AgentSnapshot): readonly PolicyTarget[] => [
  ...tools.map(({ wire, id, sideEffectClass, inputSchema }): PolicyTarget => ({
    wire,
    id,
    kind: 'tool',
    ...(sideEffectClass && { sideEffectClass }),
    ...(inputSchema !== undefined && { schema: inputSchema }),
  })),
  ...agents.map(({ wire, id }): PolicyTarget => ({ wire, id, kind: 'agent' })),
]
