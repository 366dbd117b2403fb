import { fail, type Failure } from '../../base/failure.ts'

/**
 * The only one that a text names.
 * @param missing the failure where there is none
 * @param nameOf a candidate, in the failure where there are several
 * @throws Failure `ambiguous_reference`
 */
export function onlyMatch<T>(
  found: readonly T[],
  text: string,
  missing: () => Failure,
  nameOf: (candidate: T) => string,
): T {
  const [first, ...others] = found
  if (first === undefined) throw missing()
  if (others.length > 0) throw fail('ambiguous_reference', { text, candidates: found.map(nameOf).join(', ') })
  return first
}
