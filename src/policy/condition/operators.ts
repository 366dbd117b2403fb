/**
 * What each operator compares. Exact, typed and case-sensitive: no value is converted. Source: policies, section 2.
 */
import ipaddr from 'ipaddr.js'
import semver from 'semver'
import { canonicalJson, type JsonValue } from '../../base/json.ts'
import { loadRe2 } from '../../base/re2.ts'
import { showValue, UnusableValue, type ValueTest, type TruthValue, type SubjectValue } from './truth.ts'
import { withinProblem, withinTest } from './within.ts'

/** Undefined: the value's type is not the operator's, so the answer is unknown. */
type Test = (value: JsonValue) => boolean | undefined

interface OperatorRow {
  /** How people read it. */
  readonly word: string
  /** What is wrong with the literal, or undefined. */
  problem(literal: JsonValue | undefined): string | undefined
  /**
   * @param literal one without problems
   * @param missing the answer for an absent value
   */
  judge(literal: JsonValue, missing: TruthValue): ValueTest
}

const truthOf = (result: boolean): TruthValue => (result ? 'true' : 'false')

/** A test as it is asked: absence, and values that nothing may be compared with, are answered before it. */
const asking =
  (make: (literal: JsonValue) => Test): OperatorRow['judge'] =>
  (literal, missing) => {
    const test = make(literal)
    return (value) => {
      if (value === undefined) return missing
      const result = value instanceof UnusableValue ? undefined : test(value)
      return result === undefined ? 'unknown' : truthOf(result)
    }
  }

/** `exists` and `type` are never unknown. */
const knowing =
  (make: (literal: JsonValue) => { there: (value: JsonValue) => boolean; absent: boolean }): OperatorRow['judge'] =>
  (literal) => {
    const { there, absent } = make(literal)
    return (value) => {
      const known = showValue(value)
      return truthOf(known === undefined ? absent : there(known))
    }
  }

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']

const isScalar = (value: JsonValue | undefined): boolean =>
  value !== undefined && (value === null || typeof value !== 'object')

const isSafe = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER

const needsText = (literal: JsonValue | undefined): string | undefined =>
  typeof literal === 'string' ? undefined : `compares strings; its value is ${say(literal)}`

const needsNumber = (literal: JsonValue | undefined): string | undefined =>
  isSafe(literal) ? undefined : `compares numbers; its value is ${say(literal)}`

const needsList = (literal: JsonValue | undefined): string | undefined =>
  Array.isArray(literal) && literal.length > 0 && literal.every(isComparable)
    ? undefined
    : `takes a list of strings, numbers, booleans or null that is not empty; its value is ${say(literal)}`

const isComparable = (value: JsonValue | undefined): boolean =>
  isScalar(value) && (typeof value !== 'number' || isSafe(value))

const text =
  (test: (value: string) => boolean | undefined): Test =>
  (value) =>
    typeof value === 'string' ? test(value) : undefined

/** The kind of a value that equality and membership go by. */
const kindOf = (value: JsonValue): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/**
 * A value of another kind is neither equal nor different: `"900"` is not 900, and nobody can tell what it stands for. Whether
 * something is null can always be told. Lists and mappings are compared by their canonical text.
 */
const equality =
  (same: TruthValue, different: TruthValue): OperatorRow['judge'] =>
  (literal, missing) => {
    if (literal !== null && typeof literal === 'object') {
      const [kind, wanted] = [kindOf(literal), canonicalJson(literal)]
      return (value) => {
        if (value === undefined) return missing
        if (value instanceof UnusableValue || kindOf(value) !== kind) return 'unknown'
        return canonicalJson(value) === wanted ? same : different
      }
    }
    if (literal === null)
      return (value) => {
        if (value === undefined) return missing
        return value === null ? same : value instanceof UnusableValue ? 'unknown' : different
      }
    const kind = typeof literal
    return (value) => {
      if (value === literal) return same
      return value === undefined ? missing : typeof value === kind ? different : 'unknown'
    }
  }

const needsEqual = (literal: JsonValue | undefined): string | undefined => {
  if (literal === undefined) return 'needs a value'
  return typeof literal !== 'number' || isSafe(literal)
    ? undefined
    : `compares numbers up to 2^53 - 1; its value is ${say(literal)}`
}

/** A value of a kind that the list does not have is neither in it nor outside. */
const membership =
  (inside: TruthValue, outside: TruthValue): OperatorRow['judge'] =>
  (literal, missing) => {
    const list = new Set<SubjectValue>(literal as JsonValue[])
    const kinds = new Set((literal as JsonValue[]).map(kindOf))
    const [kind] = kinds
    // Most lists are of one kind.
    if (kinds.size === 1 && kind !== 'null')
      return (value) => {
        if (value === undefined) return missing
        if (list.has(value)) return inside
        return typeof value === kind ? outside : 'unknown'
      }
    return (value) => {
      if (value === undefined) return missing
      if (list.has(value)) return inside
      return value instanceof UnusableValue || !kinds.has(kindOf(value)) ? 'unknown' : outside
    }
  }

const contains =
  (literal: JsonValue): Test =>
  (value) => {
    if (Array.isArray(value)) return value.includes(literal)
    return typeof value === 'string' && typeof literal === 'string' ? value.includes(literal) : undefined
  }

function hasType(literal: JsonValue): (value: JsonValue) => boolean {
  const types = new Set(literal as JsonValue[] | string[])
  return (value) => {
    if (value === null) return types.has('null')
    if (Array.isArray(value)) return types.has('array')
    return types.has(typeof value) || (Number.isInteger(value) && types.has('integer'))
  }
}

const asList = (literal: JsonValue): JsonValue[] => (Array.isArray(literal) ? literal : [literal])

function address(value: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Octal and short forms of IPv4 are read differently by different programs: they are nobody's address here.
  return ipaddr.IPv4.isValidFourPartDecimal(value) || ipaddr.IPv6.isValid(value) ? ipaddr.process(value) : undefined
}

function cidr(literal: JsonValue): Test {
  const ranges = asList(literal).map((range) => mapped(ipaddr.parseCIDR(range as string)))
  return text((value) => {
    const ip = address(value)
    return ip && ranges.some(([base, bits]) => ip.kind() === base.kind() && ip.match(base, bits))
  })
}

/** A range of IPv4-mapped addresses as the IPv4 range it is, since addresses are compared as IPv4. */
function mapped([base, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96
    ? [base.toIPv4Address(), bits - 96]
    : [base, bits]
}

function pattern(literal: JsonValue): Test {
  const compiled = loadRe2().compile(literal as string)
  return text((value) => compiled.test(value))
}

/** Why a text is no RE2 pattern, or undefined. */
function patternProblem(literal: JsonValue | undefined): string | undefined {
  if (typeof literal !== 'string') return needsText(literal)
  try {
    loadRe2().compile(literal)
    return undefined
  } catch (error) {
    return `takes a pattern in RE2 syntax: ${error instanceof Error ? error.message : String(error)}`
  }
}

export const OPERATORS = {
  eq: { word: '==', problem: needsEqual, judge: equality('true', 'false') },
  ne: { word: '!=', problem: needsEqual, judge: equality('false', 'true') },
  // Written out four times, since each is then one call without another inside.
  gt: {
    word: '>',
    problem: needsNumber,
    judge: (literal, missing) => (value) =>
      typeof value === 'number' ? truthOf(value > (literal as number)) : value === undefined ? missing : 'unknown',
  },
  gte: {
    word: '>=',
    problem: needsNumber,
    judge: (literal, missing) => (value) =>
      typeof value === 'number' ? truthOf(value >= (literal as number)) : value === undefined ? missing : 'unknown',
  },
  lt: {
    word: '<',
    problem: needsNumber,
    judge: (literal, missing) => (value) =>
      typeof value === 'number' ? truthOf(value < (literal as number)) : value === undefined ? missing : 'unknown',
  },
  lte: {
    word: '<=',
    problem: needsNumber,
    judge: (literal, missing) => (value) =>
      typeof value === 'number' ? truthOf(value <= (literal as number)) : value === undefined ? missing : 'unknown',
  },
  in: { word: 'in', problem: needsList, judge: membership('true', 'false') },
  not_in: { word: 'not in', problem: needsList, judge: membership('false', 'true') },
  contains: {
    word: 'contains',
    problem: (literal) =>
      isComparable(literal) ? undefined : `takes a string, number, boolean or null; its value is ${say(literal)}`,
    judge: asking(contains),
  },
  starts_with: {
    word: 'starts with',
    problem: needsText,
    judge: asking((literal) => text((value) => value.startsWith(literal as string))),
  },
  ends_with: {
    word: 'ends with',
    problem: needsText,
    judge: asking((literal) => text((value) => value.endsWith(literal as string))),
  },
  matches: { word: 'matches', problem: patternProblem, judge: asking(pattern) },
  exists: {
    word: 'exists',
    problem: (literal) =>
      typeof literal === 'boolean' ? undefined : `takes true or false; its value is ${say(literal)}`,
    judge: knowing((literal) => ({ there: () => literal === true, absent: literal === false })),
  },
  type: {
    word: 'is of type',
    problem: (literal) =>
      literal !== undefined &&
      asList(literal).length > 0 &&
      asList(literal).every((type) => TYPES.includes(type as string))
        ? undefined
        : `takes one of ${TYPES.join(', ')}, or a list of them; its value is ${say(literal)}`,
    judge: knowing((literal) => ({ there: hasType(asList(literal)), absent: false })),
  },
  cidr: {
    word: 'in network',
    problem: (literal) =>
      literal !== undefined &&
      asList(literal).length > 0 &&
      asList(literal).every((range) => typeof range === 'string' && ipaddr.isValidCIDR(range))
        ? undefined
        : `takes an address range such as 10.0.0.0/8, or a list of them; its value is ${say(literal)}`,
    judge: asking(cidr),
  },
  semver: {
    word: 'satisfies',
    problem: (literal) =>
      typeof literal === 'string' && semver.validRange(literal) !== null
        ? undefined
        : `takes a semver range; its value is ${say(literal)}`,
    judge: asking((literal) =>
      text((value) => (semver.valid(value) === null ? undefined : semver.satisfies(value, literal as string))),
    ),
  },
  within: { word: 'within', problem: withinProblem, judge: asking(withinTest) },
} satisfies Readonly<Record<string, OperatorRow>>

export type ConditionOperator = keyof typeof OPERATORS

export const operatorRow = (op: ConditionOperator): OperatorRow => OPERATORS[op]

const ALIASES: Readonly<Record<string, ConditionOperator>> = {
  '==': 'eq',
  '!=': 'ne',
  neq: 'ne',
  '>': 'gt',
  '>=': 'gte',
  '<': 'lt',
  '<=': 'lte',
}

/** The operator of a name or an alias; undefined when there is none. */
export function operatorOf(name: string): ConditionOperator | undefined {
  if (Object.hasOwn(OPERATORS, name)) return name as ConditionOperator
  return Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined
}

/** A literal in one word or two: `string "500"`. */
function say(literal: JsonValue | undefined): string {
  if (literal === undefined) return 'missing'
  if (literal === null) return 'null'
  if (Array.isArray(literal)) return literal.length === 0 ? 'an empty list' : 'a list'
  if (typeof literal === 'object') return 'a mapping'
  return `${typeof literal} ${JSON.stringify(literal).slice(0, 80)}`
}
