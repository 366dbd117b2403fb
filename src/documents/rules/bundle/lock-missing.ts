import { toolDocument, toolsOf, subAgentsOf, textMember } from '../../facts/agents/bindings.ts'
import { readRawLock } from '../../facts/lock/lock-file.ts'
import { readAgentRef } from '../../text/reference.ts'
import type { LintRule } from '../../facts/rule.ts'

export const bundleLockMissing: LintRule = {
  severity: 'warning',
  law: 'A bundle that uses documents from the registry has a lock that pins them.',
  fix: 'Run `svc compile` and commit svc.lock.',
  reason: 'The same documents then compile to the same bundle everywhere.',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    if (readRawLock(workspace, document) !== undefined) return
    for (const agent of workspace.publishedTogether(document)) {
      const tool = toolsOf(agent).find(
        (use) =>
          !use.builtin && use.ref !== undefined && use.value['mcp'] === undefined && !toolDocument(workspace, use),
      )
      const child = subAgentsOf(agent).find(
        ({ value }) => readAgentRef(textMember(value, 'ref') ?? '').form === 'pinned' && value['late_bound'] !== true,
      )
      const from = tool?.value['ref'] ?? child?.value['ref']
      if (typeof from !== 'string') continue
      report('/spec/root', `${from} comes from the registry, and no svc.lock says which version was compiled.`, {
        fix: 'Run `svc compile` and commit svc.lock.',
        subject: [from],
      })
      return
    }
  },
}
