/**
 * What policies decide about one call, written a second time and without regard to speed: from the page about policies alone,
 * sections 2 and 4. It imports nothing that decides.
 */
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'

export interface SlowPolicy {
  readonly effect: 'grant' | 'restrict' | 'require_approval' | 'escalate' | 'deny'
  readonly when?: JsonObject
  readonly allow?: { readonly field: string; readonly values: readonly string[] }
  readonly approvals?: number
  readonly comprehension?: boolean
}

export interface SlowCall {
  readonly args: JsonObject
  readonly depth: number
  readonly sideEffectClass: string | undefined
}

export interface SlowDecision {
  readonly decision: 'allow' | 'require_approval' | 'escalate' | 'deny'
  readonly approvals: number
  readonly comprehension: boolean
}

type Truth = 'T' | 'F' | 'U'

export function decideSlowly(policies: readonly SlowPolicy[], call: SlowCall): SlowDecision {
  const fired = policies.flatMap((policy) => {
    const truth = policy.when ? truthOf(policy.when, call) : 'T'
    if (policy.effect === 'grant') return truth === 'T' ? ['grant' as const] : []
    if (truth === 'F') return []
    if (policy.effect !== 'restrict') return [policy.effect]
    return isListed(policy.allow!, call) ? [] : ['deny' as const]
  })
  const asking = policies.filter(
    ({ effect, when }) =>
      (effect === 'require_approval' || effect === 'escalate') && (!when || truthOf(when, call) !== 'F'),
  )
  const byDefault = call.sideEffectClass === 'irreversible_action' ? ('require_approval' as const) : ('allow' as const)
  const decision =
    (['deny', 'escalate', 'require_approval'] as const).find((each) => fired.includes(each)) ??
    (fired.includes('grant') ? 'allow' : byDefault)
  return {
    decision,
    approvals: Math.max(1, ...asking.map(({ approvals = 1 }) => approvals)),
    comprehension: asking.some(({ comprehension }) => comprehension === true),
  }
}

const RANK = ['allow', 'require_approval', 'escalate', 'deny']

export function isSlowlyLooser(before: SlowDecision, after: SlowDecision): boolean {
  const [was, is] = [RANK.indexOf(before.decision), RANK.indexOf(after.decision)]
  if (is < was) return true
  const bothAsk = [was, is].every((rank) => rank === 1 || rank === 2)
  return bothAsk && (after.approvals < before.approvals || (before.comprehension && !after.comprehension))
}

function truthOf(condition: JsonObject, call: SlowCall): Truth {
  if (Array.isArray(condition['all'])) {
    const parts = condition['all'].map((each) => truthOf(each as JsonObject, call))
    return parts.includes('F') ? 'F' : parts.includes('U') ? 'U' : 'T'
  }
  if (Array.isArray(condition['any'])) {
    const parts = condition['any'].map((each) => truthOf(each as JsonObject, call))
    return parts.includes('T') ? 'T' : parts.includes('U') ? 'U' : 'F'
  }
  if (condition['not'] !== undefined) return opposite(truthOf(condition['not'] as JsonObject, call))
  return leafTruth(condition, call)
}

const opposite = (truth: Truth): Truth => (truth === 'T' ? 'F' : truth === 'F' ? 'T' : 'U')
const told = (value: boolean): Truth => (value ? 'T' : 'F')

/** `nothing` is neither there nor absent: something on the way has no members, or a function has no result. */
type Seen = { readonly value: JsonValue } | 'absent' | 'nothing'

function leafTruth(leaf: JsonObject, call: SlowCall): Truth {
  const field = leaf['field'] as string
  if (leaf['each'] !== undefined) {
    const list = seenAt(field.replace('[*]', ''), call)
    if (list === 'absent') return compared(leaf, 'absent')
    if (list === 'nothing' || !Array.isArray(list.value)) return 'U'
    const parts = list.value.map((value) => compared(leaf, { value }))
    if (leaf['each'] === 'any') return parts.includes('T') ? 'T' : parts.includes('U') ? 'U' : 'F'
    return parts.length === 0 || (parts.includes('U') && !parts.includes('F')) ? 'U' : parts.includes('F') ? 'F' : 'T'
  }
  const length = /^length\((.*)\)$/.exec(field)
  if (!length) return compared(leaf, seenAt(field, call))
  const inner = seenAt(length[1]!, call)
  if (inner === 'absent' || inner === 'nothing') return compared(leaf, inner)
  const { value } = inner
  const count = Array.isArray(value) ? value.length : typeof value === 'string' ? Array.from(value).length : undefined
  return compared(leaf, count === undefined ? 'nothing' : { value: count })
}

function seenAt(field: string, call: SlowCall): Seen {
  if (field === 'run.depth') return { value: call.depth }
  let value: JsonValue = call.args
  for (const name of field.split('.').slice(1)) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'nothing'
    if (!Object.hasOwn(value, name)) return 'absent'
    value = value[name]!
  }
  return { value }
}

const kindOf = (value: JsonValue): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

function compared(leaf: JsonObject, seen: Seen): Truth {
  const { op = 'eq', value: literal = null, if_missing: missing } = leaf
  if (op === 'exists') return told((seen !== 'absent' && seen !== 'nothing') === (leaf['value'] ?? true))
  if (op === 'type') {
    if (seen === 'absent' || seen === 'nothing') return 'F'
    const kind = kindOf(seen.value)
    return told([literal].flat().some((type) => type === kind || (type === 'integer' && Number.isInteger(seen.value))))
  }
  if (seen === 'absent') return missing === undefined ? 'U' : told(missing === true)
  if (seen === 'nothing') return 'U'
  const { value } = seen
  if (typeof value === 'number' && !(Math.abs(value) < 2 ** 53)) return 'U'
  if (typeof value === 'string' && Buffer.byteLength(value) > 65_536) return 'U'
  switch (op) {
    case 'eq':
    case 'ne': {
      // Whether something is null can always be told; otherwise only values of one kind are compared.
      if (literal !== null && kindOf(value) !== kindOf(literal)) return 'U'
      return told((JSON.stringify(value) === JSON.stringify(literal)) === (op === 'eq'))
    }
    case 'in':
    case 'not_in': {
      const list = literal as JsonValue[]
      if (!list.some((each) => kindOf(each) === kindOf(value))) return 'U'
      return told(list.some((each) => each === value) === (op === 'in'))
    }
    case 'gt':
      return typeof value === 'number' ? told(value > Number(literal)) : 'U'
    case 'gte':
      return typeof value === 'number' ? told(value >= Number(literal)) : 'U'
    case 'lt':
      return typeof value === 'number' ? told(value < Number(literal)) : 'U'
    case 'lte':
      return typeof value === 'number' ? told(value <= Number(literal)) : 'U'
    case 'starts_with':
      return typeof value === 'string' ? told(value.startsWith(literal as string)) : 'U'
    default:
      throw new Error(`This evaluator has no operator ${JSON.stringify(op)}.`)
  }
}

function isListed({ field, values }: NonNullable<SlowPolicy['allow']>, call: SlowCall): boolean {
  const seen = seenAt(field, call)
  if (seen === 'absent' || seen === 'nothing') return false
  if (typeof seen.value === 'number' && !(Math.abs(seen.value) < 2 ** 53)) return false
  return values.includes(typeof seen.value === 'string' ? seen.value : JSON.stringify(seen.value))
}
