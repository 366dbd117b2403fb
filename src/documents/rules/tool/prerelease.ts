import { toolDocument, toolsOf } from '../../facts/agents/bindings.ts'
import { isPrerelease, isVersion } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const toolPrerelease: LintRule = {
  severity: 'info',
  law: 'A prerelease is referenced by its exact version, not by a range.',
  fix: 'Wait for the release, or pin the prerelease exactly.',
  reason: 'A range never selects a prerelease unless it names one.',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace }) {
    for (const use of toolsOf(document)) {
      const tool = toolDocument(workspace, use)?.identity
      if (tool === undefined || !isPrerelease(tool.version) || isVersion(use.ref?.range ?? '')) continue
      report(`${use.pointer}/ref`, `This range can resolve to ${tool.id}@${tool.version}, a prerelease.`)
    }
  },
}
