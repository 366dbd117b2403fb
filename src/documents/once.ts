import type { Workspace } from './workspace.ts'

let functions = 0

/** Says that there is nothing: undefined is said of what was not asked for yet. */
const NOTHING = Symbol('nothing')

/**
 * Computes something about a workspace the first time it is asked for: documents do not change. It is kept with the workspace,
 * not in a `WeakMap`: V8 holds what lies in one until its next great collection, and with it all documents that were ever read.
 */
export function oncePerWorkspace<T>(compute: (workspace: Workspace) => T): (workspace: Workspace) => T {
  const number = functions++
  return (workspace) => {
    const before = workspace.worked[number]
    if (before !== undefined) return (before === NOTHING ? undefined : before) as T
    const value = compute(workspace)
    workspace.worked[number] = value === undefined ? NOTHING : value
    return value
  }
}

/** The same for each of the objects of a workspace: documents, bindings. */
export function oncePerObject<K extends object, T>(
  compute: (workspace: Workspace, key: K) => T,
): (workspace: Workspace, key: K) => T {
  const number = functions++
  return (workspace, key) => {
    const table = (workspace.worked[number] ??= new Map()) as Map<K, T>
    const before = table.get(key)
    // What was worked out may be that there is nothing.
    if (before !== undefined || table.has(key)) return before!
    const value = compute(workspace, key)
    table.set(key, value)
    return value
  }
}
