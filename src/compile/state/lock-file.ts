/** The format of `svc.lock`, and the differences between two lock files. Source: docs/design/bundles-and-authority.md#lock */
import type { Digest } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { canonicalJson, isJsonObject } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'

export interface LockedMember {
  readonly kind: 'agent' | 'tool' | 'policy' | 'schema' | 'instructions' | 'script' | 'models'
  /** Logical id, or the path of a file. */
  readonly id: string
  readonly version?: string
  readonly origin: 'local' | 'registry'
  readonly path?: string
  /** The range that selected a version of the registry. */
  readonly requested?: string
  readonly integrity: Digest
}

export interface McpPin {
  readonly agent: string
  readonly server: string
  /** Name of the tool on the server. */
  readonly tool: string
  readonly integrity: Digest
}

export interface LockFile {
  readonly lockfile_version: 1
  readonly bundle: { readonly id: string; readonly version: string } | null
  readonly members: readonly LockedMember[]
  /** Late-bound edges, resolved at call time. */
  readonly late_edges: readonly { readonly agent: string; readonly ref: string }[]
  /** Digests of the tools of MCP servers; absent = nothing is pinned. */
  readonly mcp?: readonly McpPin[]
  /** Digest of each compiled agent, by id. */
  readonly compiled: Readonly<Record<string, Digest>>
  readonly closure_digest: Digest
}

/** Member kinds as the registry calls them. */
const PINNED: Readonly<Record<string, string>> = { tool: 'Tool', policy: 'Policy', agent: 'Agent' }

/** Text of the file; equal content gives equal bytes. */
export const writeLock = (lock: LockFile): string =>
  `${JSON.stringify(JSON.parse(canonicalJson(lock)), undefined, 2)}\n`

/** @throws Failure `compile/drift` for a text that is no lock file of this version */
export function readLock(text: string): LockFile {
  const value = parseText(text)
  if (
    !isJsonObject(value) ||
    value['lockfile_version'] !== 1 ||
    !Array.isArray(value['members']) ||
    !isJsonObject(value['compiled'])
  )
    throw fail(
      'compile/drift',
      { what: 'svc.lock is not a lock file of version 1.' },
      { fix: 'Delete it, then svc compile.' },
    )
  return fromJson<LockFile>(value)
}

/** Versions that a lock chose from the registry, by `Kind id`. @param update id of a member to choose again */
export function lockedVersions(lock: LockFile | undefined, update?: string): ReadonlyMap<string, readonly string[]> {
  const pins = new Map<string, readonly string[]>()
  for (const { kind, id, version, origin } of lock?.members ?? []) {
    const key = `${PINNED[kind]} ${id}`
    if (origin === 'registry' && PINNED[kind] !== undefined && version !== undefined && id !== update)
      pins.set(key, [...(pins.get(key) ?? []), version])
  }
  return pins
}

/** Digests of the registry's members, by `Kind id@version`. @param update as for `lockedVersions` */
export const lockedDigests = (lock: LockFile | undefined, update?: string): ReadonlyMap<string, Digest> =>
  new Map(
    (lock?.members ?? []).flatMap(({ kind, id, version, origin, integrity }) =>
      origin === 'registry' && PINNED[kind] !== undefined && id !== update
        ? [[`${PINNED[kind]} ${id}@${version}`, integrity] as const]
        : [],
    ),
  )

/** Digests of the tools of MCP servers. */
export const lockedMcpDigests = (lock: LockFile | undefined): ReadonlyMap<string, Digest> =>
  new Map((lock?.mcp ?? []).map((each) => [mcpKeyOf(each), each.integrity]))

export const mcpKeyOf = ({ agent, server, tool }: Omit<McpPin, 'integrity'>): string =>
  JSON.stringify([agent, server, tool])

/** The differences, one sentence each; empty if the documents compile to this lock. */
export function lockDrift(locked: LockFile, compiled: LockFile): readonly string[] {
  if (canonicalJson(locked) === canonicalJson(compiled)) return []
  const before = new Map(locked.members.map((member) => [keyOf(member), member]))
  const after = new Map(compiled.members.map((member) => [keyOf(member), member]))
  const changes = [
    ...[...before].flatMap(([key, member]) =>
      after.has(key) ? [] : [`${describeMember(member)} is no longer part of the bundle.`],
    ),
    ...[...after].flatMap(([key, member]) => {
      const old = before.get(key)
      if (!old) return [`${describeMember(member)} is new.`]
      if (old.version !== member.version)
        return [`${describeMember(member)} was ${old.version ?? 'without a version'}.`]
      return canonicalJson(old) === canonicalJson(member) ? [] : [`${describeMember(member)} has changed.`]
    }),
  ]
  changes.push(...mcpDrift(lockedMcpDigests(locked), compiled.mcp ?? []))
  return changes.length > 0 ? changes : ['svc.lock differs outside of its members.']
}

/** A tool that is no longer bound changed its agent, which is reported above. */
const mcpDrift = (before: ReadonlyMap<string, Digest>, after: readonly McpPin[]): string[] =>
  after
    .filter((pin) => before.get(mcpKeyOf(pin)) !== pin.integrity)
    .map(
      (pin) =>
        `${pin.tool} of the MCP server "${pin.server}" of ${pin.agent} ${before.has(mcpKeyOf(pin)) ? 'has changed' : 'was not pinned'}.`,
    )

const keyOf = ({ kind, id }: LockedMember): string => `${kind} ${id}`

const describeMember = ({ kind, id, version }: LockedMember): string =>
  `${kind} ${id}${version === undefined ? '' : `@${version}`}`

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
