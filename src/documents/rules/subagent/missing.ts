import { reportMissingAgent } from '../../facts/missing.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentMissing: LintRule = {
  severity: 'error',
  essential: true,
  law: 'A sub-agent path points to an Agent document.',
  fix: 'Correct the path, or add the file.',
  source: 'Authoring format, "Sub-agent binding": `ref`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const at of document.texts('spec.agents.*.ref')) {
      const ref = readAgentRef(at.value)
      if (ref.form === 'path') reportMissingAgent(report, workspace, at, workspace.resolve(document, ref.path))
    }
  },
}
