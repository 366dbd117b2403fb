/** What `svc.lock` says, as far as lint reads it. Source: bundles, section 3. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import type { Document } from './document.ts'
import { joinPath } from './paths.ts'
import type { Workspace } from './workspace.ts'

export const LOCK_FILE = 'svc.lock'

export type LockMember = Readonly<Record<string, string>>

export interface Lock {
  readonly members: readonly LockMember[]
  readonly mcp: readonly LockMember[]
  /** Ids of the agents that were compiled. */
  readonly compiled: readonly string[]
}

/** The lock of the bundle to which a document belongs; undefined where there is none, null for a file that is no lock. */
export function readLock(workspace: Workspace, document: Document): Lock | null | undefined {
  const path = joinPath(workspace.bundleDirectory(document), LOCK_FILE)
  if (!workspace.files.paths.includes(path)) return undefined
  try {
    const value = JSON.parse(workspace.text(path)) as JsonValue
    if (!isJsonObject(value) || value['lockfile_version'] !== 1 || !Array.isArray(value['members'])) return null
    const { members, mcp, compiled } = value
    return {
      members: entries(members),
      mcp: entries(mcp),
      compiled: isJsonObject(compiled) ? Object.keys(compiled) : [],
    }
  } catch {
    return null
  }
}

/** The same, where it can be read. */
export const lockOf = (workspace: Workspace, document: Document): Lock | undefined =>
  readLock(workspace, document) ?? undefined

const entries = (list: JsonValue | undefined): Readonly<Record<string, string>>[] =>
  (Array.isArray(list) ? list : [])
    .filter(isJsonObject)
    .map((each) =>
      Object.fromEntries(Object.entries(each).filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    )
