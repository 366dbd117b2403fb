import { distance } from 'fastest-levenshtein'

/** The most similar word, for "did you mean"; undefined where none is similar. */
export function nearestWord(text: string, words: readonly string[]): string | undefined {
  const [nearest] = words
    .map((word) => ({ word, edits: distance(text.toLowerCase(), word.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  return nearest && nearest.edits <= Math.max(2, text.length / 3) ? nearest.word : undefined
}

/**
 * The remedy for a word that is none of these: the most similar one, else the given remedy.
 * @param show the word as it is to be typed
 */
export function suggestWord(
  text: string,
  words: readonly string[],
  otherwise?: string,
  show: (word: string) => string = (word) => word,
): string | undefined {
  const near = nearestWord(text, words)
  return near === undefined ? otherwise : `Did you mean ${show(near)}?`
}
