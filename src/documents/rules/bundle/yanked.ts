import { lockOf } from '../../facts/lock/lock-file.ts'
import type { LintRule } from '../../facts/rule.ts'

export const bundleYanked: LintRule = {
  name: 'bundle/yanked',
  severity: 'warning',
  law: 'The lock pins no yanked version.',
  fix: 'Run `svc compile --update ID`.',
  reason: 'A yanked version stays usable only for what already pins it.',
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace, published }) {
    for (const { kind, id, version, origin } of lockOf(workspace, document)?.members ?? []) {
      const of = kind === 'tool' ? 'Tool' : kind === 'policy' ? 'Policy' : kind === 'agent' ? 'Agent' : undefined
      if (of === undefined || origin !== 'registry' || id === undefined || version === undefined) continue
      if (published.yanked?.(of, id, version))
        report('/spec/root', `svc.lock pins ${id}@${version}, which was yanked.`, {
          why: 'It still works here, but its author withdrew it.',
          fix: `Run \`svc compile --update ${id}\`.`,
        })
    }
  },
}
