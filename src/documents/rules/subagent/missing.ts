import { missingFile } from '../../facts/missing.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const subagentMissing: LintRule = {
  severity: 'error',
  law: 'A sub-agent path points to an Agent document.',
  fix: 'Correct the path, or add the file.',
  source: 'Authoring format, "Sub-agent binding": `ref`',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const at of document.texts('spec.agents.*.ref')) {
      const ref = readAgentRef(at.value)
      if (ref.form !== 'path') continue
      const found = workspace.resolve(document, ref.path)
      const fault = missingFile(found, at)
      if (fault !== undefined) report(at, fault.message, fault.details)
      if (!('path' in found)) continue
      const kinds = workspace.documentsAt(found.path).map(({ kind }) => kind)
      if (!kinds.includes('Agent'))
        report(
          at,
          kinds.length === 0 ? `${found.path} holds no document.` : `${found.path} is a ${kinds[0]}, not an Agent.`,
        )
    }
  },
}
