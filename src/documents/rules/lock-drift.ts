import { digestOf, digestOfJson } from '../../base/digest.ts'
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

/** Contracts and policies are digested as `svc compile` resolves them: of these their versions are compared. */
function drift(workspace: Workspace, bundle: Document, member: Readonly<Record<string, string>>): string | undefined {
  const { kind, id, version, origin, path, integrity } = member
  if (origin !== 'local' || path === undefined || id === undefined) return undefined
  const where = workspace.files.paths.includes(path) ? path : joinPath(workspace.bundleDirectory(bundle), path)
  if (!workspace.files.paths.includes(where)) return `is locked from ${path}, which is gone`
  if (!['agent', 'tool', 'policy'].includes(kind ?? ''))
    return integrity === undefined || integrity === digestOf(workspace.bytes(where)) ? undefined : CHANGED
  const there = workspace.documentsAt(where).filter(({ identity }) => identity?.id === id)
  const versions = there.flatMap(({ identity }) => identity?.version ?? [])
  if (version !== undefined && versions.length > 0 && !versions.includes(version))
    return `is locked in ${version}, but is ${versions.join(', ')}`
  return kind === 'agent' &&
    integrity !== undefined &&
    there.length > 0 &&
    !there.some(({ value }) => digestOfJson(value) === integrity)
    ? CHANGED
    : undefined
}

const CHANGED = 'has changed since'
