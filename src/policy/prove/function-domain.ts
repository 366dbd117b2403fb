/** What the functions of paths return, as far as that is certain. Source: docs/design/prover.md#domains */
import type { JsonValue } from '../../base/json/json.ts'
import { FUNCTIONS } from '../condition/functions.ts'
import type { PathFunction } from '../condition/path.ts'
import { ANY_VALUE, type PossibleValues, type ValueType } from './possible-values.ts'

/** The domain of a function of a value; that of the value itself without one. */
export function domainAfter(fn: PathFunction | undefined, of: PossibleValues): PossibleValues {
  if (fn === undefined) return of
  const values = of.values?.flatMap((value) => FUNCTIONS[fn](value) ?? [])
  // Not every URL has a host, and no number a length.
  const result: PossibleValues = {
    ...ANY_VALUE,
    values,
    absent: of.absent,
    unreadable: true,
    types: typesAfter(fn, of),
  }
  switch (fn) {
    case 'length':
      return { ...result, ...lengthsOf(of) }
    case 'lower':
      return { ...result, refuses: (value) => isNoLower(value, of), lacks: (part) => isNoPart(part, of) }
    case 'fold':
      // Folding may shorten and lengthen a text, and a part of what it returned may fold to something else.
      return { ...result, refuses: (value) => typeof value !== 'string' || FUNCTIONS.fold(value) !== value }
    case 'host':
    case 'email_domain':
      return { ...result, refuses: (value) => isNoResult(value, fn), lacks: (part) => NO_HOST.test(part) }
  }
}

function typesAfter(fn: PathFunction, { types }: PossibleValues): readonly ValueType[] {
  if (fn === 'length') return types.includes('string') || types.includes('array') ? ['number'] : []
  return types.includes('string') ? ['string'] : []
}

function lengthsOf({ types, size }: PossibleValues): Pick<PossibleValues, 'low' | 'high' | 'integer'> {
  const sizes = [...(types.includes('string') ? [size.string] : []), ...(types.includes('array') ? [size.array] : [])]
  const [least, most] = [Math.min(...sizes.map((each) => each.least)), Math.max(...sizes.map((each) => each.most))]
  return {
    low: { at: Number.isFinite(least) ? least : 0, open: false },
    high: Number.isFinite(most) ? { at: most, open: false } : undefined,
    integer: true,
  }
}

function isNoLower(value: JsonValue, { size: { string: size } }: PossibleValues): boolean {
  if (typeof value !== 'string') return true
  if (value !== value.toLowerCase()) return true
  return Array.from(unfolded(value)).length > size.most || Array.from(value).length < size.least
}

const isNoPart = (part: string, { size: { string: size } }: PossibleValues): boolean =>
  part !== part.toLowerCase() || Array.from(unfolded(part)).length - 1 > size.most

/** One capital, U+0130, becomes two characters in lower case; every other stays one. */
const unfolded = (text: string): string => text.replaceAll('i\u0307', 'i')

/** The function gives back what it returned, written as a host is, or as one that ends with a dot. */
function isNoResult(value: JsonValue, fn: 'host' | 'email_domain'): boolean {
  if (typeof value !== 'string') return true
  const before = fn === 'host' ? ['http://', 'http://['] : ['x@']
  return !before.some((start) =>
    ['', '.'].some((dot) => FUNCTIONS[fn](`${start}${value}${start.endsWith('[') ? ']' : ''}${dot}`) === value),
  )
}

/** Characters that no host has: it is lower case and in ASCII. */
const NO_HOST = /[^\x21-\x7e]|[A-Z/?#@\\^|%<>[\]]/
