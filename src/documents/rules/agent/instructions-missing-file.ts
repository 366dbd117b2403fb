import type { LintRule } from '../../facts/rule.ts'
import { missingFile } from '../../facts/missing.ts'

export const instructionsMissingFile: LintRule = {
  name: 'agent/instructions-missing-file',
  severity: 'error',
  law: 'The file that `instructions.ref` names exists, and is the only one that it can mean.',
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
      // Several candidates are `agent/instructions-version-ambiguous`.
      if ('problem' in found && found.problem === 'ambiguous') continue
      const fault = missingFile(found, ref)
      if (fault !== undefined) report(ref, fault.message, fault.saying)
    }
  },
}
