import type { LintRule } from '../../facts/rule.ts'

export const agentInstructionsEmpty: LintRule = {
  severity: 'error',
  essential: true,
  law: 'Instructions are not empty.',
  fix: 'Write the instructions.',
  source: 'Authoring format, "Agent document": the system prompt is non-empty',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const text of document.texts('spec.instructions.text'))
      if (text.value.trim() === '') report(text, 'The instructions are empty.')
    for (const ref of document.texts('spec.instructions.ref')) {
      const version = document.at('spec.instructions.version')[0]?.value
      const found = workspace.resolve(
        document,
        ref.value,
        typeof version === 'string' || typeof version === 'number' ? version : undefined,
      )
      if ('path' in found && workspace.text(found.path).trim() === '') report(ref, `${found.path} is empty.`)
    }
  },
}
