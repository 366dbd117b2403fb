import { distance } from 'fastest-levenshtein'

/**
 * The candidate an author most likely meant: equal but for case or separators, or at most a third of its letters (two
 * for short words) away. Undefined when none is near enough to be worth naming.
 */
export function nearestCandidate(word: string, candidates: Iterable<string>): string | undefined {
  const plain = plainly(word)
  // `non_read_only` is not a typing error for `read_only`: it means the opposite.
  const denied = /^(?:!|non|not|un|doesnot|isnot)(.+)$/.exec(plain)?.[1]
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate === word) continue
    const other = plainly(candidate)
    if (denied !== undefined && distance(denied, other) <= 1) continue
    if (other === plain) return candidate
    // Skips candidates of very different length: a wrong path is compared with every file of the project.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const away = distance(word, candidate)
    // A short word with half of its letters changed is another word.
    if (away < bestDistance && away < Math.max(word.length, candidate.length) / 2) {
      best = candidate
      bestDistance = away
    }
  }
  return best
}

/** The nearest logical id. A name without its namespace means the id that ends with it. */
export function nearestId(word: string, ids: readonly string[]): string | undefined {
  const name = (id: string): string => id.slice(id.lastIndexOf('.') + 1)
  return (
    nearestCandidate(word, ids) ??
    (word.includes('.') ? undefined : ids.find((id) => name(id) === word || nearestCandidate(word, [name(id)])))
  )
}

/** The end of a message, with a space before it; empty where nothing is near. */
export const didYouMean = (near: string | undefined): string => (near === undefined ? '' : ` Did you mean "${near}"?`)

const plainly = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, '')
