import { gatedAgents } from '../../facts/policies/attachments.ts'
import { closureOf } from '../../facts/agents/closure.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalHiddenTimeline: LintRule = {
  severity: 'warning',
  law: 'A caller of a trigger that hides the timeline cannot answer the approvals of its runs.',
  fix: 'Expose the timeline, or let an operator approve: svc inbox.',
  source: 'HTTP API, "Timeline redaction": user tasks are not visible to API clients',
  crossFile: true,
  kinds: ['Agent'],
  check(document, report, { workspace, server }) {
    if (server === undefined || document.identity === undefined) return
    const { id } = document.identity
    const trigger = Object.hasOwn(server.hiddenTimelines, id) ? server.hiddenTimelines[id] : undefined
    if (trigger === undefined) return
    const closure = closureOf(workspace, document)
    const policy = workspace.documents.find(
      (each) =>
        each.kind === 'Policy' &&
        decisionOf(each)['type'] === 'require_approval' &&
        gatedAgents(workspace, each).some((agent) => closure.includes(agent)),
    )
    if (policy !== undefined)
      report(
        '/metadata/name',
        `The trigger "${trigger}" hides the timeline, so its callers cannot answer the approvals of ${policy.identity?.id ?? 'this agent'}.`,
      )
  },
}
