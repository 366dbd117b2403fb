import type { LintRule } from '../../facts/rule.ts'

export const agentInstructionsVersionAmbiguous: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A reference and its version match exactly one file.',
  fix: 'Keep one of the files, or write its full path.',
  source: 'Authoring format, "Versioning", 4',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    const ref = document.texts('spec.instructions.ref')[0]
    if (ref === undefined) return
    const version = document.at('spec.instructions.version')[0]?.value
    const found = workspace.resolve(
      document,
      ref.value,
      typeof version === 'string' || typeof version === 'number' ? version : undefined,
    )
    if ('problem' in found && found.problem === 'ambiguous')
      report(ref, `"${ref.value}" could be ${found.candidates.join(' or ')}.`)
  },
}
