import type { Workspace } from './workspace.ts'

/** Computes something about a workspace the first time it is asked for: documents do not change. */
export function oncePerWorkspace<T>(compute: (workspace: Workspace) => T): (workspace: Workspace) => T {
  const known = new WeakMap<Workspace, { readonly value: T }>()
  return (workspace) => {
    const before = known.get(workspace) ?? { value: compute(workspace) }
    known.set(workspace, before)
    return before.value
  }
}

/** The same for each of the objects of a workspace: documents, bindings. */
export function oncePerObject<K extends object, T>(
  compute: (workspace: Workspace, key: K) => T,
): (workspace: Workspace, key: K) => T {
  const tables = oncePerWorkspace(() => new Map<K, { readonly value: T }>())
  return (workspace, key) => {
    const table = tables(workspace)
    const before = table.get(key) ?? { value: compute(workspace, key) }
    table.set(key, before)
    return before.value
  }
}
