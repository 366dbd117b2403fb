/** `svc.lock` as a file: what stands in it, and how it differs from another. Source: bundles, section 3. */
import type { Digest } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import { canonicalJson, isJsonObject } from '../../base/json.ts'

export interface LockedMember {
  readonly kind: 'agent' | 'tool' | 'policy' | 'schema' | 'instructions' | 'script'
  /** Logical id; the path of a file that has none. */
  readonly id: string
  readonly version?: string
  readonly origin: 'local' | 'registry'
  readonly path?: string
  /** The range that chose a version from the registry. */
  readonly requested?: string
  readonly integrity: Digest
}

export interface McpPin {
  readonly agent: string
  readonly server: string
  /** As the server calls it. */
  readonly tool: string
  readonly integrity: Digest
}

export interface LockFile {
  readonly lockfile_version: 1
  readonly bundle: { readonly id: string; readonly version: string } | null
  readonly members: readonly LockedMember[]
  /** Edges that are resolved at call time. */
  readonly late_edges: readonly { readonly agent: string; readonly ref: string }[]
  /** What MCP servers said of their tools; absent = nothing is pinned. */
  readonly mcp?: readonly McpPin[]
  /** Digest of each compiled agent, by id. */
  readonly compiled: Readonly<Record<string, Digest>>
  readonly closure_digest: Digest
}

/** Member kinds as the registry calls them. */
const PINNED: Readonly<Record<string, string>> = { tool: 'Tool', policy: 'Policy', agent: 'Agent' }

/** Text of the file: the same content is the same bytes. */
export const writeLock = (lock: LockFile): string =>
  `${JSON.stringify(JSON.parse(canonicalJson(lock)), undefined, 2)}\n`

/** @throws Failure `compile/drift` for a text that is no lock file of this version */
export function readLock(text: string): LockFile {
  const value = parse(text)
  if (
    !isJsonObject(value) ||
    value['lockfile_version'] !== 1 ||
    !Array.isArray(value['members']) ||
    !isJsonObject(value['compiled'])
  )
    throw fail(
      'compile/drift',
      { what: 'svc.lock is no lock file of version 1.' },
      { fix: 'Delete it, then svc compile.' },
    )
  return value as unknown as LockFile
}

/** Versions that a lock chose from the registry, by `Kind id`. @param update id of a member that is to be chosen anew */
export function pinsOf(lock: LockFile | undefined, update?: string): ReadonlyMap<string, readonly string[]> {
  const pins = new Map<string, readonly string[]>()
  for (const { kind, id, version, origin } of lock?.members ?? []) {
    const key = `${PINNED[kind]} ${id}`
    if (origin === 'registry' && PINNED[kind] !== undefined && version !== undefined && id !== update)
      pins.set(key, [...(pins.get(key) ?? []), version])
  }
  return pins
}

/** Digests of the registry's members, by `Kind id@version`. @param update as for `pinsOf` */
export const digestsOf = (lock: LockFile | undefined, update?: string): ReadonlyMap<string, Digest> =>
  new Map(
    (lock?.members ?? []).flatMap(({ kind, id, version, origin, integrity }) =>
      origin === 'registry' && PINNED[kind] !== undefined && id !== update
        ? [[`${PINNED[kind]} ${id}@${version}`, integrity] as const]
        : [],
    ),
  )

/** Digests of what MCP servers said of their tools. */
export const mcpPinsOf = (lock: LockFile | undefined): ReadonlyMap<string, Digest> =>
  new Map((lock?.mcp ?? []).map((each) => [mcpKeyOf(each), each.integrity]))

export const mcpKeyOf = ({ agent, server, tool }: Omit<McpPin, 'integrity'>): string =>
  JSON.stringify([agent, server, tool])

/** What differs, one sentence each; empty when the lock is what the documents compile to. */
export function lockDrift(locked: LockFile, compiled: LockFile): readonly string[] {
  if (canonicalJson(locked) === canonicalJson(compiled)) return []
  const before = new Map(locked.members.map((member) => [keyOf(member), member]))
  const after = new Map(compiled.members.map((member) => [keyOf(member), member]))
  const changes = [
    ...[...before].flatMap(([key, member]) =>
      after.has(key) ? [] : [`${say(member)} is no longer part of the bundle.`],
    ),
    ...[...after].flatMap(([key, member]) => {
      const old = before.get(key)
      if (!old) return [`${say(member)} is new.`]
      if (old.version !== member.version) return [`${say(member)} was ${old.version ?? 'without a version'}.`]
      return canonicalJson(old) === canonicalJson(member) ? [] : [`${say(member)} has changed.`]
    }),
  ]
  changes.push(...mcpDrift(mcpPinsOf(locked), compiled.mcp ?? []))
  return changes.length > 0 ? changes : ['What svc.lock says beside its members differs.']
}

/** A tool that is no longer bound has changed its agent, which is told above. */
const mcpDrift = (before: ReadonlyMap<string, Digest>, after: readonly McpPin[]): string[] =>
  after
    .filter((pin) => before.get(mcpKeyOf(pin)) !== pin.integrity)
    .map(
      (pin) =>
        `${pin.tool} of the MCP server "${pin.server}" of ${pin.agent} ${before.has(mcpKeyOf(pin)) ? 'has changed' : 'was not pinned'}.`,
    )

const keyOf = ({ kind, id }: LockedMember): string => `${kind} ${id}`

const say = ({ kind, id, version }: LockedMember): string =>
  `${kind} ${id}${version === undefined ? '' : `@${version}`}`

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
