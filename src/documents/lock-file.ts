/** What `svc.lock` says, as far as lint reads it. Source: bundles, section 3. */
import { isJsonObject, type JsonValue } from '../base/json.ts'
import type { Document } from './document.ts'
import { joinPath } from './paths.ts'
import type { Workspace } from './workspace.ts'

export const LOCK_FILE = 'svc.lock'

export interface Lock {
  readonly members: readonly Readonly<Record<string, string>>[]
  readonly mcp: readonly Readonly<Record<string, string>>[]
}

/** The lock of the bundle to which a document belongs; undefined where there is none that can be read. */
export function lockOf(workspace: Workspace, document: Document): Lock | undefined {
  const path = joinPath(workspace.bundleDirectory(document), LOCK_FILE)
  if (!workspace.files.paths.includes(path)) return undefined
  try {
    const value = JSON.parse(workspace.text(path)) as JsonValue
    return isJsonObject(value) ? { members: entries(value['members']), mcp: entries(value['mcp']) } : undefined
  } catch {
    return undefined
  }
}

const entries = (list: JsonValue | undefined): Readonly<Record<string, string>>[] =>
  (Array.isArray(list) ? list : [])
    .filter(isJsonObject)
    .map((each) =>
      Object.fromEntries(Object.entries(each).filter((pair): pair is [string, string] => typeof pair[1] === 'string')),
    )
