/** What was said in the runs of a session, as both stores read it: a page from the newest step back. */
import type { RunId } from '../../base/ids.ts'
import type { RunStep } from '../../spec/step.ts'

/** Steps that are part of the conversation whatever they contain. A completion is one where a message answers its question. */
export const SAID_TYPES = ['UserMessage', 'Output', 'RunCompleted', 'RunResumed'] as const

export const listOf = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(', ')

export const byOrdinal = (steps: readonly RunStep[]): readonly RunStep[] =>
  steps.toSorted((a, b) => a.ordinal - b.ordinal)

/**
 * Leaves out the oldest run of a full page unless its first step was read, or it is the only one.
 * @returns also the runs in which a message answers a question
 */
export function wholeRuns(
  page: readonly RunStep[],
  limit: number,
): { readonly steps: readonly RunStep[]; readonly replied: readonly RunId[] } {
  const [oldest] = page
  const rest = page.filter(({ runId }) => runId !== oldest?.runId)
  const isCut = page.length === limit && oldest?.sequence !== 1 && rest.length > 0
  const steps = isCut ? rest : page
  const replied = steps.filter(({ content }) => (content['reply_to'] ?? null) !== null).map(({ runId }) => runId)
  return { steps, replied: [...new Set(replied)] }
}
