import { lockOf, registryKindOf } from '../../facts/lock/lock-file.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { LintRule, YankMark } from '../../facts/rule.ts'

export const bundleYanked: LintRule = {
  severity: 'warning',
  law: 'The lock pins no yanked version.',
  fix: 'Run `svc compile --update ID`.',
  reason: 'A yanked version stays usable only for what already pins it.',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace, published }) {
    for (const { kind, id, version, origin } of lockOf(workspace, document)?.members ?? []) {
      const of = registryKindOf(kind)
      if (of === undefined || origin !== 'registry' || id === undefined || version === undefined) continue
      const mark = published.yanked?.(of, id, version)
      if (mark)
        report('/spec/root', `svc.lock pins ${id}@${version}, which was yanked${reasonOf(mark)}.`, {
          why: 'It still works here, but its author withdrew it.',
          fix: `Run \`svc compile --update ${id}\`.`,
        })
    }
  },
}

const reasonOf = ({ reason }: YankMark): string => (reason === undefined ? '' : ` (${safeText(reason)})`)
