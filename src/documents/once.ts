import type { Workspace } from './workspace.ts'

/**
 * Computes something about a workspace the first time it is asked for: documents do not change. It is kept with the workspace,
 * not in a `WeakMap`: V8 holds what lies in one until its next great collection, and with it all documents that were ever read.
 */
export function oncePerWorkspace<T>(compute: (workspace: Workspace) => T): (workspace: Workspace) => T {
  return (workspace) => {
    const { worked } = workspace
    const before = worked.get(compute)
    if (before !== undefined || worked.has(compute)) return before as T
    const value = compute(workspace)
    worked.set(compute, value)
    return value
  }
}

/** The same for each of the objects of a workspace: documents, bindings. */
export function oncePerObject<K extends object, T>(
  compute: (workspace: Workspace, key: K) => T,
): (workspace: Workspace, key: K) => T {
  return (workspace, key) => {
    let table = workspace.worked.get(compute) as Map<K, T> | undefined
    if (table === undefined) {
      table = new Map()
      workspace.worked.set(compute, table)
    }
    const before = table.get(key)
    // What was worked out may be that there is nothing.
    if (before !== undefined || table.has(key)) return before!
    const value = compute(workspace, key)
    table.set(key, value)
    return value
  }
}
