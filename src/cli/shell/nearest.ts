import { distance } from 'fastest-levenshtein'

/** The word that was probably meant; undefined where none is near. */
export function nearestWord(text: string, words: readonly string[]): string | undefined {
  const [best] = words
    .map((word) => ({ word, away: distance(text.toLowerCase(), word.toLowerCase()) }))
    .sort((a, b) => a.away - b.away)
  return best && best.away <= Math.max(2, text.length / 3) ? best.word : undefined
}
