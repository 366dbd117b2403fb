import { lockOf } from '../../facts/lock-file.ts'
import type { LintRule } from '../../facts/rule.ts'

const agent = (version: string): string =>
  `kind: Agent\nspec:\n  agents: [{ref: ops.published@${version}, description: Tells.}]\n`
const lock = (version: string): string =>
  JSON.stringify({
    lockfile_version: 1,
    members: [
      { kind: 'agent', id: 'acme.desk', version: '1.0.0', origin: 'local', path: 'agent.yaml' },
      { kind: 'agent', id: 'ops.published', version, origin: 'registry' },
    ],
  })

export const bundleYanked: LintRule = {
  name: 'bundle/yanked',
  severity: 'warning',
  law: 'No version that the lock pins was yanked.',
  fix: 'Run `svc compile --update ID`.',
  source: 'Bundles, section 4: yanked versions stay usable by what pins them',
  bad: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': agent('1.3.0'), 'svc.lock': lock('1.3.0') },
  good: { 'bundle.yaml': 'kind: Bundle\n', 'agent.yaml': agent('1.4.2'), 'svc.lock': lock('1.4.2') },
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace, published }) {
    for (const { kind, id, version, origin } of lockOf(workspace, document)?.members ?? []) {
      const of = kind === 'tool' ? 'Tool' : kind === 'policy' ? 'Policy' : kind === 'agent' ? 'Agent' : undefined
      if (of === undefined || origin !== 'registry' || id === undefined || version === undefined) continue
      if (published.yanked?.(of, id, version))
        report('/spec/root', `svc.lock pins ${id}@${version}, which was yanked.`, {
          why: 'It stays usable here, but its author asks not to.',
          fix: `Run \`svc compile --update ${id}\`.`,
        })
    }
  },
}
