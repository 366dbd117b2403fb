/** The operators of comparisons: exact, typed and case-sensitive, without conversion. Source: docs/design/policies.md#operators */
import ipaddr from 'ipaddr.js'
import semver from 'semver'
import { shortenText } from '../../base/text/cut-text.ts'
import { canonicalJson, type JsonValue } from '../../base/json/json.ts'
import { loadRe2 } from '../../base/pattern/re2.ts'
import { showValue, UnusableValue, type ValueTest, type TruthValue } from './truth.ts'
import { withinProblem, withinTest } from './within.ts'
import { ownMember } from '../../base/json/own-member.ts'
import { isSafeNumber } from '../../base/json/exact-number.ts'

/** Undefined: the value's type does not fit the operator, so the comparison is unknown. */
type Test = (value: JsonValue) => boolean | undefined

interface OperatorRow {
  /** The operator in descriptions for people. */
  readonly word: string
  /** The end of a sentence about what is wrong with the literal, or undefined. */
  problem(literal: JsonValue | undefined): string | undefined
  /**
   * Fills in the literal.
   * @param literal one without problems
   * @param missing the truth for an absent value
   */
  compileTest(literal: JsonValue, missing: TruthValue): ValueTest
}

const truthOf = (result: boolean): TruthValue => (result ? 'true' : 'false')

/** Answers absent and unusable values, so that the test sees neither. */
const testUsable =
  (compile: (literal: JsonValue) => Test): OperatorRow['compileTest'] =>
  (literal, missing) => {
    const test = compile(literal)
    return (value) => {
      if (value === undefined) return missing
      const result = value instanceof UnusableValue ? undefined : test(value)
      return result === undefined ? 'unknown' : truthOf(result)
    }
  }

/** `exists` and `type` are never unknown. */
const testPresence =
  (compile: (literal: JsonValue) => (value: JsonValue | undefined) => boolean): OperatorRow['compileTest'] =>
  (literal) => {
    const test = compile(literal)
    return (value) => truthOf(test(showValue(value)))
  }

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object']

const isScalar = (value: JsonValue | undefined): boolean =>
  value !== undefined && (value === null || typeof value !== 'object')

const needsText = (literal: JsonValue | undefined): string | undefined =>
  typeof literal === 'string' ? undefined : `compares strings; its value is ${describeLiteral(literal)}`

const needsNumber = (literal: JsonValue | undefined): string | undefined =>
  isSafeNumber(literal) ? undefined : `compares numbers; its value is ${describeLiteral(literal)}`

const needsList = (literal: JsonValue | undefined): string | undefined =>
  Array.isArray(literal) && literal.length > 0 && literal.every(isComparable)
    ? undefined
    : `takes a list of strings, numbers, booleans or null that is not empty; its value is ${describeLiteral(literal)}`

const isComparable = (value: JsonValue | undefined): boolean =>
  isScalar(value) && (typeof value !== 'number' || isSafeNumber(value))

const text =
  (test: (value: string) => boolean | undefined): Test =>
  (value) =>
    typeof value === 'string' ? test(value) : undefined

/** The JSON type of a value, by which equality and membership go. */
function kindOf(value: JsonValue): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/**
 * A value of another type is neither equal nor different: `"900"` is not 900, and what it stands for is unknown. Whether a
 * value is null is always known. Lists and mappings are compared by their canonical text.
 */
function equals(literal: JsonValue): Test {
  const kind = kindOf(literal)
  const text = isScalar(literal) ? undefined : canonicalJson(literal)
  return (value) => {
    if (literal !== null && kindOf(value) !== kind) return undefined
    return text === undefined ? value === literal : canonicalJson(value) === text
  }
}

/** A value of a type that the list does not have is neither in it nor outside. */
function isMember(literal: JsonValue): Test {
  const members = literal as readonly JsonValue[]
  const kinds = new Set(members.map(kindOf))
  return (value) => members.includes(value) || (kinds.has(kindOf(value)) ? false : undefined)
}

const negateTest =
  (compile: (literal: JsonValue) => Test): ((literal: JsonValue) => Test) =>
  (literal) => {
    const test = compile(literal)
    return (value) => {
      const result = test(value)
      return result === undefined ? undefined : !result
    }
  }

const compareNumbers = (holds: (value: number, literal: number) => boolean): OperatorRow['compileTest'] =>
  testUsable((literal) => (value) => (typeof value === 'number' ? holds(value, literal as number) : undefined))

const needsEqual = (literal: JsonValue | undefined): string | undefined => {
  if (literal === undefined) return 'needs a value'
  return typeof literal !== 'number' || isSafeNumber(literal)
    ? undefined
    : `compares numbers up to 2^53 - 1; its value is ${describeLiteral(literal)}`
}

const contains =
  (literal: JsonValue): Test =>
  (value) => {
    if (Array.isArray(value)) return value.includes(literal)
    return typeof value === 'string' && typeof literal === 'string' ? value.includes(literal) : undefined
  }

function hasType(literal: JsonValue): (value: JsonValue | undefined) => boolean {
  const types = asList(literal)
  return (value) =>
    value !== undefined && (types.includes(kindOf(value)) || (Number.isInteger(value) && types.includes('integer')))
}

const asList = (literal: JsonValue): JsonValue[] => (Array.isArray(literal) ? literal : [literal])

function parseAddress(value: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  // Programs read octal and short forms of IPv4 differently, so they are not addresses here.
  return ipaddr.IPv4.isValidFourPartDecimal(value) || ipaddr.IPv6.isValid(value) ? ipaddr.process(value) : undefined
}

function cidr(literal: JsonValue): Test {
  const ranges = asList(literal).map((range) => toIpv4Range(ipaddr.parseCIDR(range as string)))
  return text((value) => {
    const ip = parseAddress(value)
    return ip && ranges.some(([base, bits]) => ip.kind() === base.kind() && ip.match(base, bits))
  })
}

/** Converts a range of IPv4-mapped addresses to IPv4, since addresses are compared as IPv4. */
function toIpv4Range([base, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  return base instanceof ipaddr.IPv6 && base.isIPv4MappedAddress() && bits >= 96
    ? [base.toIPv4Address(), bits - 96]
    : [base, bits]
}

function pattern(literal: JsonValue): Test {
  const compiled = loadRe2().compile(literal as string)
  return text((value) => compiled.test(value))
}

/** Why a text is not an RE2 pattern, or undefined. */
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
  eq: { word: '==', problem: needsEqual, compileTest: testUsable(equals) },
  ne: { word: '!=', problem: needsEqual, compileTest: testUsable(negateTest(equals)) },
  gt: {
    word: '>',
    problem: needsNumber,
    compileTest: compareNumbers((value, literal) => value > literal),
  },
  gte: {
    word: '>=',
    problem: needsNumber,
    compileTest: compareNumbers((value, literal) => value >= literal),
  },
  lt: {
    word: '<',
    problem: needsNumber,
    compileTest: compareNumbers((value, literal) => value < literal),
  },
  lte: {
    word: '<=',
    problem: needsNumber,
    compileTest: compareNumbers((value, literal) => value <= literal),
  },
  in: { word: 'in', problem: needsList, compileTest: testUsable(isMember) },
  not_in: { word: 'not in', problem: needsList, compileTest: testUsable(negateTest(isMember)) },
  contains: {
    word: 'contains',
    problem: (literal) =>
      isComparable(literal)
        ? undefined
        : `takes a string, number, boolean or null; its value is ${describeLiteral(literal)}`,
    compileTest: testUsable(contains),
  },
  starts_with: {
    word: 'starts with',
    problem: needsText,
    compileTest: testUsable((literal) => text((value) => value.startsWith(literal as string))),
  },
  ends_with: {
    word: 'ends with',
    problem: needsText,
    compileTest: testUsable((literal) => text((value) => value.endsWith(literal as string))),
  },
  matches: { word: 'matches', problem: patternProblem, compileTest: testUsable(pattern) },
  exists: {
    word: 'exists',
    problem: (literal) =>
      typeof literal === 'boolean' ? undefined : `takes true or false; its value is ${describeLiteral(literal)}`,
    compileTest: testPresence((literal) => (value) => (value !== undefined) === literal),
  },
  type: {
    word: 'is of type',
    problem: (literal) =>
      literal !== undefined &&
      asList(literal).length > 0 &&
      asList(literal).every((type) => TYPES.includes(type as string))
        ? undefined
        : `takes one of ${TYPES.join(', ')}, or a list of them; its value is ${describeLiteral(literal)}`,
    compileTest: testPresence(hasType),
  },
  cidr: {
    word: 'in network',
    problem: (literal) =>
      literal !== undefined &&
      asList(literal).length > 0 &&
      asList(literal).every((range) => typeof range === 'string' && ipaddr.isValidCIDR(range))
        ? undefined
        : `takes an address range such as 10.0.0.0/8, or a list of them; its value is ${describeLiteral(literal)}`,
    compileTest: testUsable(cidr),
  },
  semver: {
    word: 'satisfies',
    problem: (literal) =>
      typeof literal === 'string' && semver.validRange(literal) !== null
        ? undefined
        : `takes a semver range; its value is ${describeLiteral(literal)}`,
    compileTest: testUsable((literal) =>
      text((value) => (semver.valid(value) === null ? undefined : semver.satisfies(value, literal as string))),
    ),
  },
  within: { word: 'within', problem: withinProblem, compileTest: testUsable(withinTest) },
} satisfies Readonly<Record<string, OperatorRow>>

export type ConditionOperator = keyof typeof OPERATORS

/** Operators that apply to a set of names, as `source` facts are. */
export const SOURCE_OPERATORS: readonly ConditionOperator[] = [
  'eq',
  'ne',
  'in',
  'not_in',
  'contains',
  'starts_with',
  'matches',
  'exists',
]

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
  return ownMember(ALIASES, name)
}

/** A literal in one word or two: `string "500"`. */
function describeLiteral(literal: JsonValue | undefined): string {
  if (literal === undefined) return 'missing'
  if (literal === null) return 'null'
  if (Array.isArray(literal)) return literal.length === 0 ? 'an empty list' : 'a list'
  if (typeof literal === 'object') return 'a mapping'
  return `${typeof literal} ${shortenText(JSON.stringify(literal), 80)}`
}
