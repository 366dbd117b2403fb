import { distance } from 'fastest-levenshtein'

/**
 * The candidate an author most likely meant: equal but for case or separators, or at most a third of its letters (two
 * for short words) away. Undefined when none is near enough to be worth naming.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate === word || denies(word, candidate)) continue
    if (plainly(candidate) === plainly(word)) return candidate
    const away = distance(word, candidate)
    // Half a short word changed is another word.
    if (away < bestDistance && away < Math.max(word.length, candidate.length) / 2) {
      best = candidate
      bestDistance = away
    }
  }
  return best
}

/** The same for logical ids; a name without its namespace means the id that ends with it. */
export function nearestId(word: string, ids: readonly string[]): string | undefined {
  const name = (id: string): string => id.slice(id.lastIndexOf('.') + 1)
  return (
    nearest(word, ids) ??
    (word.includes('.') ? undefined : ids.find((id) => name(id) === word || nearest(word, [name(id)])))
  )
}

/** A sentence to append to a message, with a space before it; empty when no candidate is near. */
export const didYouMean = (word: string, candidates: Iterable<string>): string => {
  const near = nearest(word, candidates)
  return near === undefined ? '' : ` Did you mean "${near}"?`
}

/** True for a word that says the opposite: `non_read_only` is no slip of `read_only`. */
function denies(word: string, candidate: string): boolean {
  const denied = /^(?:!|non|not|un|doesnot|isnot)(.+)$/.exec(plainly(word))?.[1]
  return denied !== undefined && distance(denied, plainly(candidate)) <= 1
}

const plainly = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, '')
