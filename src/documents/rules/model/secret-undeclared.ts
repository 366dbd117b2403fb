import type { LintRule } from '../../facts/rule.ts'
import { nearestCandidate } from '../../text/suggest.ts'

export const modelSecretUndeclared: LintRule = {
  severity: 'error',
  law: "`model.secret` names a key of the agent's `secrets`.",
  fix: 'Declare it under `secrets`, or correct the name.',
  source: 'Authoring format, "spec.model" and "Authentication"',
  kinds: ['Agent'],
  check(document, report) {
    const declared = document.at('secrets.*').map(({ key }) => key)
    for (const use of document.texts('spec.model.secret')) {
      if (declared.includes(use.value)) continue
      const near = nearestCandidate(use.value, declared)
      report(use, `No secret "${use.value}" is declared.${near === undefined ? '' : ` Did you mean "${near}"?`}`, {
        fix: near === undefined ? `Add \`secrets: {${use.value}: {fromEnv: …}}\`.` : `Write ${near}.`,
        meant: near,
      })
    }
  },
}
