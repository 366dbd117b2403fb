/** Facts that a decision read and that cannot be derived later: history measures and the sources of arguments. */
import type { CallFacts } from './decision.ts'
import { historyText } from './history.ts'
import { sourceText } from './path.ts'

/** The history measures that a decision read, by `historyText`; null = unknown. */
export type HistorySeen = Readonly<Record<string, number | null>>

/** The names of argument values that a decision read, by path below `source`; null = unknown. */
export type SourcesSeen = Readonly<Record<string, readonly string[] | null>>

/** The facts with a `history` and a `source` that record what they return. */
export function recordReads(facts: CallFacts): {
  readonly facts: CallFacts
  readonly seen: HistorySeen
  readonly sources: SourcesSeen
} {
  const seen: Record<string, number | null> = {}
  const sources: Record<string, readonly string[] | null> = {}
  return {
    seen,
    sources,
    facts: {
      ...facts,
      ...(facts.source && {
        source(segments) {
          const text = sourceText(segments)
          // Several policies may ask about one argument, which is searched for once.
          if (!Object.hasOwn(sources, text)) sources[text] = facts.source?.(segments) ?? null
          return sources[text] ?? undefined
        },
      }),
      history(...measure) {
        const value = facts.history(...measure)
        seen[historyText(...measure)] = value ?? null
        return value
      },
    },
  }
}
