import { attachmentsOf } from '../../facts/policies/attachments.ts'
import { missingFile } from '../../facts/missing.ts'
import type { LintRule } from '../../facts/rule.ts'
import { nearestId } from '../../text/suggest.ts'
import { proposeScalarFix } from '../../text/diagnostic.ts'

export const policyAttachmentMissing: LintRule = {
  severity: 'error',
  law: 'Each attached policy exists.',
  fix: 'Correct the name, or add the Policy document.',
  source: 'Authoring format, "Policy attachment"',
  crossFile: true,
  check(document, report, { workspace, published }) {
    for (const { at, written, policies, resolution } of attachmentsOf(workspace, document)) {
      if (policies.length > 0 || written === '') continue
      if (resolution !== undefined) {
        const fault = missingFile(resolution, at)
        if (fault !== undefined) report(at, fault.message, fault.details)
        else if ('path' in resolution) report(at, `${resolution.path} holds no Policy.`)
        continue
      }
      if (published.versions('Policy', written).length > 0) continue
      const ids = workspace.ids('Policy')
      const near = nearestId(written, ids)
      report(at, `Policy "${written}" is not in this project.${near === undefined ? '' : ` Did you mean ${near}?`}`, {
        fix: near === undefined ? 'Add its Policy document, or publish it.' : proposeScalarFix(at, near),
        meant: near,
      })
    }
  },
}
