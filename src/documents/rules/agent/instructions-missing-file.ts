import type { LintRule } from '../../facts/rule.ts'
import { missingFile } from '../../facts/missing.ts'

export const agentInstructionsMissingFile: LintRule = {
  severity: 'error',
  essential: true,
  law: 'The file that `instructions.ref` names exists and is unambiguous.',
  fix: 'Correct the path, or add the file.',
  source: 'Authoring format, "Agent document": `ref` is a bundle-relative path',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const ref of document.texts('spec.instructions.ref')) {
      const version = document.at('spec.instructions.version')[0]?.value
      const found = workspace.resolve(
        document,
        ref.value,
        typeof version === 'string' || typeof version === 'number' ? version : undefined,
      )
      // `agent/instructions-version-ambiguous` reports several candidates.
      if ('problem' in found && found.problem === 'ambiguous') continue
      const fault = missingFile(found, ref)
      if (fault !== undefined) report(ref, fault.message, fault.details)
    }
  },
}
