import { attachmentsOf, type AttachedPolicyRef } from '../../facts/policies/attachments.ts'
import { removalEdits } from '../../edit/removal.ts'
import type { LintRule } from '../../facts/rule.ts'

export const policyAttachmentDuplicate: LintRule = {
  severity: 'warning',
  law: 'A policy is attached only once in the same place.',
  fix: 'Keep one of the two.',
  source: 'Authoring format, "Policy attachment"',
  crossFile: true,
  check(document, report, { workspace }) {
    const attachments = attachmentsOf(workspace, document)
    // Without repetition in the whole document there is none in any list.
    if (new Set(attachments.map(nameOf)).size === attachments.length) return
    const first = new Map<string, string>()
    for (const attachment of attachments) {
      const { at } = attachment
      const name = nameOf(attachment)
      const item = at.key === 'ref' ? at.pointer.slice(0, -'/ref'.length) : at.pointer
      const list = item.slice(0, item.lastIndexOf('/'))
      const key = `${list} ${name}`
      const before = first.get(key)
      first.set(key, before ?? item)
      if (before === undefined || before === item) continue
      report(at, `${name} is attached here twice.`, {
        fix: { description: 'Remove it.', edits: removalEdits(document, item) },
        related: [{ path: document.path, range: document.placeOf(before).range, message: 'first here' }],
      })
    }
  },
}

const nameOf = ({ policies, written }: AttachedPolicyRef): string => policies[0]?.identity?.id ?? written
