import type { Document } from '../document.ts'
import { lockOf } from '../lock-file.ts'
import { joinPath } from '../paths.ts'
import type { Rule } from '../rule.ts'
import type { Workspace } from '../workspace.ts'

export const lockDrift: Rule = {
  name: 'bundle/lock-drift',
  severity: 'warning',
  law: 'The lock lists the documents of the bundle as they are.',
  fix: 'Run `svc compile` and commit svc.lock.',
  source: 'Bundles, section 3',
  bad: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.1.0"}\n',
    'svc.lock':
      '{"lockfile_version": 1, "members": [{"kind": "agent", "id": "acme.desk", "version": "1.0.0", "origin": "local", "path": "agent.yaml"}]}',
  },
  good: {
    'bundle.yaml': 'kind: Bundle\n',
    'agent.yaml': 'kind: Agent\nmetadata: {name: desk, namespace: acme, version: "1.0.0"}\n',
    'svc.lock':
      '{"lockfile_version": 1, "members": [{"kind": "agent", "id": "acme.desk", "version": "1.0.0", "origin": "local", "path": "agent.yaml"}]}',
  },
  crossFile: true,
  kinds: ['Bundle'],
  check(document, report, { workspace }) {
    const stale = (lockOf(workspace, document)?.members ?? []).flatMap((member) => {
      const why = drift(workspace, document, member)
      return why === undefined ? [] : [`${member['id']} ${why}`]
    })
    if (stale.length > 0) report('/spec/root', `svc.lock is not of these documents: ${stale.join('; ')}.`)
  },
}

/** Bytes are compared by `svc compile --check`; here what people read: which documents, in which versions. */
function drift(workspace: Workspace, bundle: Document, member: Readonly<Record<string, string>>): string | undefined {
  const { kind, id, version, origin, path } = member
  if (origin !== 'local' || path === undefined || id === undefined) return undefined
  const where = workspace.files.paths.includes(path) ? path : joinPath(workspace.bundleDirectory(bundle), path)
  if (!workspace.files.paths.includes(where)) return `is locked from ${path}, which is gone`
  if (version === undefined || !['agent', 'tool', 'policy'].includes(kind ?? '')) return undefined
  const there = workspace.documentsAt(where).flatMap(({ identity }) => (identity?.id === id ? identity.version : []))
  return there.includes(version) || there.length === 0
    ? undefined
    : `is locked in ${version}, but is ${there.join(', ')}`
}
