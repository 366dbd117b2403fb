import type { RunView } from '../../operations/runs.ts'

/** A run in a list, with the number of its ancestors that are in the list. */
export interface ListedRun {
  readonly run: RunView
  readonly indent: number
}

/**
 * The list with sub-agent runs below the run that started them, oldest first; all others keep their order. A run whose parent
 * is not in the list stays where it is.
 */
export function arrangeRunTree(runs: readonly RunView[]): readonly ListedRun[] {
  const listed = new Set(runs.map(({ runId }) => runId))
  const children = new Map<string, RunView[]>()
  for (const run of runs) {
    const parent = run.parentRunId !== null && listed.has(run.parentRunId) ? run.parentRunId : ''
    children.set(parent, [...(children.get(parent) ?? []), run])
  }
  const below = (parent: string, indent: number): readonly ListedRun[] =>
    (children.get(parent) ?? [])
      .toSorted((a, b) => (parent === '' ? 0 : a.startedAt.localeCompare(b.startedAt)))
      .flatMap((run) => [{ run, indent }, ...below(run.runId, indent + 1)])
  return below('', 0)
}
