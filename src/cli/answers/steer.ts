import { runView } from '../../operations/runs.ts'
import { integer, list, object } from '../../operations/schema.ts'
import { undoItem } from '../../operations/steering.ts'

/** `items` are the runs that undo `calls`. */
export const undoneRuns = object({ items: list(runView), total: integer, calls: list(undoItem) })
