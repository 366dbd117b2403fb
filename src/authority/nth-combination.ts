/**
 * One choice from each pool: the combination with a number, where the choices of the first pool change fastest.
 * @param number from 0, below the product of the numbers of choices
 */
export function nthCombination<Pool, Choice>(
  pools: readonly Pool[],
  choicesOf: (pool: Pool) => readonly Choice[],
  number: number,
): readonly (readonly [Pool, Choice])[] {
  let rest = number
  return pools.flatMap((pool) => {
    const choices = choicesOf(pool)
    const at = rest % choices.length
    rest = Math.floor(rest / choices.length)
    return choices.slice(at, at + 1).map((choice) => [pool, choice] as const)
  })
}
