import { gatedAgents } from '../../facts/policies/attachments.ts'
import { closureOf } from '../../facts/agents/closure.ts'
import { decisionOf } from '../../facts/policies/decision.ts'
import type { LintRule } from '../../facts/rule.ts'

export const approvalHiddenTimeline: LintRule<'server'> = {
  severity: 'warning',
  law: 'Keys that may answer approvals see the timeline, where the approvals are.',
  fix: 'Expose the timeline, or leave approvals to people: svc triggers update TRIGGER --no-allow-approvals.',
  source: 'HTTP API, "Timeline redaction": user tasks are not visible to API clients',
  crossFile: true,
  kinds: ['Agent'],
  needs: ['server'],
  check(document, report, { workspace, server }) {
    if (document.identity === undefined) return
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
        `The trigger "${trigger}" hides the timeline, so its keys cannot answer the approvals of ${policy.identity?.id ?? 'this agent'}.`,
      )
  },
}
