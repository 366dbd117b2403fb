/** The amounts of each unit, and its length in milliseconds. */
const UNITS: readonly (readonly [amounts: RegExp, length: number])[] = [
  [/[\d.]+(?=ms)/g, 1],
  [/[\d.]+(?=s)/g, 1000],
  [/[\d.]+(?=m(?!s))/g, 60_000],
  [/[\d.]+(?=h)/g, 3_600_000],
  [/[\d.]+(?=d)/g, 86_400_000],
]

/**
 * Milliseconds of a duration as people write it: `250ms`, `30s`, `1.5h`, or several parts (`1h30m`).
 * Undefined for other text, and for a bare number, whose unit would be a guess.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return undefined
  let total = 0
  for (const [amounts, length] of UNITS)
    for (const amount of text.match(amounts) ?? []) total += Number(amount) * length
  return Math.round(total)
}
