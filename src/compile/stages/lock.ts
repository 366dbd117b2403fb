/**
 * Writes `svc.lock`: the versions that a bundle was compiled with, and the resulting digests.
 * Source: docs/design/bundles-and-authority.md#lock
 */
import { compareText } from '../../base/values/compare-text.ts'
import { digestOfJson } from '../../base/digest.ts'
import { canonicalJson } from '../../base/json/json.ts'
import type { CompiledBundle } from '../../spec/snapshot.ts'
import type { LockFile, LockedMember, McpPin } from '../state/lock-file.ts'
import { idOfDocument, type CompileState } from '../state/state.ts'

/** The result of a compilation. Paths are relative to the workspace. */
export function toLockFile(state: CompileState, bundle: CompiledBundle): LockFile {
  const members: LockedMember[] = [
    ...state.members.map(({ id, document, agent }): LockedMember => ({
      kind: 'agent',
      id,
      version: agent.metadata.version,
      origin: 'local',
      path: document.path,
      integrity: digestOfJson(document.value),
    })),
    ...[...state.externals.values()].map(({ id, version, digest }): LockedMember => ({
      kind: 'agent',
      id,
      version,
      origin: 'registry',
      integrity: digest,
    })),
    ...[...state.contracts.values()].map(({ published, document, requested }): LockedMember => ({
      kind: 'tool',
      id: published.id,
      version: published.version,
      ...(document ? { origin: 'local', path: document.path } : { origin: 'registry' }),
      ...(requested !== undefined && { requested }),
      integrity: published.digest,
    })),
    ...[...state.resolvedPolicies.values()].map(({ published, document }): LockedMember => ({
      kind: 'policy',
      id: published.id,
      version: published.version,
      ...(document ? { origin: 'local', path: document.path } : { origin: 'registry' }),
      integrity: published.digest,
    })),
    ...[...state.files.values()].map(({ kind, path, version, integrity }): LockedMember => ({
      kind,
      id: path,
      ...(version !== undefined && { version }),
      origin: 'local',
      path,
      integrity,
    })),
  ]
  const mcp = bundle.agents
    .filter(({ id }) => state.members.some((member) => member.id === id))
    .flatMap(({ id, tools }) =>
      tools.flatMap(({ mcp }): McpPin[] =>
        mcp?.integrity === undefined
          ? []
          : [{ agent: id, server: mcp.server, tool: mcp.tool, integrity: mcp.integrity }],
      ),
    )
    .sort(byText)
  return {
    lockfile_version: 1,
    bundle: bundle.bundle ?? null,
    members: members.sort(byKind),
    late_edges: state.members
      .flatMap(({ document, edges }) =>
        edges.flatMap(({ target, binding }) =>
          target.at === 'late' ? [{ agent: idOfDocument(document), ref: binding.ref }] : [],
        ),
      )
      .sort(byText),
    ...(mcp.length > 0 && { mcp }),
    compiled: Object.fromEntries(bundle.agents.map(({ id, digest }) => [id, digest])),
    closure_digest: bundle.closureDigest,
  }
}

const byKind = (a: LockedMember, b: LockedMember): number => compareText(keyOf(a), keyOf(b))

const keyOf = ({ kind, id, version = '' }: LockedMember): string => `${kind}\0${id}\0${version}`

const byText = (a: object, b: object): number => compareText(canonicalJson(a), canonicalJson(b))
