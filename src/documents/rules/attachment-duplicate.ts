import { attachmentsOf } from '../attachments.ts'
import { removalOf } from '../removal.ts'
import type { Rule } from '../rule.ts'

export const attachmentDuplicate: Rule = {
  name: 'policy/attachment-duplicate',
  severity: 'warning',
  law: 'A policy is attached once at a place.',
  fix: 'Keep one of the two.',
  source: 'Authoring format, "Policy attachment"',
  bad: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit, {ref: policy.yaml}]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml': 'kind: Policy\n',
  },
  good: {
    'agent.yaml':
      'kind: Agent\nspec:\n  tools: [{ref: pay.refund@^1, policies: [pay.limit]}]\n  limits: {max_loop_iterations: 5}\n',
    'tool.yaml': 'kind: Tool\n',
    'policy.yaml': 'kind: Policy\n',
  },
  crossFile: true,
  check(document, report, { workspace }) {
    const first = new Map<string, string>()
    for (const { at, written, policies } of attachmentsOf(workspace, document)) {
      const item = at.key === 'ref' ? at.pointer.slice(0, -'/ref'.length) : at.pointer
      const list = item.slice(0, item.lastIndexOf('/'))
      const key = `${list} ${policies[0]?.identity?.id ?? written}`
      const before = first.get(key)
      first.set(key, before ?? item)
      if (before === undefined || before === item) continue
      report(at, `${policies[0]?.identity?.id ?? written} is attached here twice.`, {
        fix: { description: 'Remove it.', edits: removalOf(document, item) },
        related: [{ path: document.path, range: document.placeOf(before).range, message: 'first here' }],
      })
    }
  },
}
