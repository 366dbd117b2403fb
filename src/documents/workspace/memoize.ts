import type { Workspace } from './workspace.ts'

/** Computes a value once per workspace: workspaces do not change. */
export function memoizePerWorkspace<T>(compute: (workspace: Workspace) => T): (workspace: Workspace) => T {
  const known = new WeakMap<Workspace, { readonly value: T }>()
  return (workspace) => {
    const before = known.get(workspace) ?? { value: compute(workspace) }
    known.set(workspace, before)
    return before.value
  }
}

/** Computes a value once per workspace and object, such as a document or a binding. */
export function memoizePerObject<K extends object, T>(
  compute: (workspace: Workspace, key: K) => T,
): (workspace: Workspace, key: K) => T {
  const tables = memoizePerWorkspace(() => new Map<K, { readonly value: T }>())
  return (workspace, key) => {
    const table = tables(workspace)
    const before = table.get(key) ?? { value: compute(workspace, key) }
    table.set(key, before)
    return before.value
  }
}
