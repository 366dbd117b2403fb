/** How far an overview looks back. */

export const HOUR_MS = 3_600_000

/** Runs that are counted, the newest. */
export const MOST_COUNTED_RUNS = 20_000

/** Sessions whose steps are read, the newest: steps have no index by time. */
export const MOST_MARKED_SESSIONS = 200

/** Steps that tell how long a tool or a model took, and what policies decided. */
export const MARKED_STEPS = `'ToolCall', 'Reasoning', 'PolicyDecision'`
