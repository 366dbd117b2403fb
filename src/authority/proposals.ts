/** Calls that two versions may decide differently: values around everything that their policies compare. */
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts'
import { leavesOfEntry, type ConditionLeaf } from '../policy/condition/condition.ts'
import type { CallContext } from '../policy/condition/first-call.ts'
import {
  isSpread,
  readArgumentPath,
  type ConditionPath,
  type FactRoot,
  withoutFunction,
} from '../policy/condition/path.ts'
import type { PathSegment } from '../policy/condition/segment.ts'
import { classesOf, EXACT, type ValueClass } from '../policy/prove/classes.ts'
import { domainAt, domainBelow, namedIn } from '../policy/prove/domains.ts'
import { attachDefinitions } from '../policy/prove/schema-parts.ts'
import { sampleValue } from '../providers/sample.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { checkValue } from '../tools/check/check.ts'
import { candidatesOf, type Choice } from './candidates.ts'
import { subjectText, subjectsOf, type ComparedEntries } from './questions.ts'
import type { Widening } from './widening.ts'
import { nthCombination } from './nth-combination.ts'
import { onlyItem } from '../base/values/collections.ts'
import { textBefore } from '../base/text/text-parts.ts'
import { ownMember } from '../base/json/own-member.ts'

export interface ProposedCall {
  readonly args: JsonObject
  readonly context: CallContext
}

/** A path, and the values to try there. */
interface Pool {
  readonly text: string
  readonly path: ConditionPath
  readonly choices: readonly Choice[]
  /** The values of one class. */
  choicesIn(each: ValueClass): readonly Choice[]
}

type ChosenValues = ReadonlyMap<string, Choice>

/** Variants tried of one lead. */
const MAX_TRIES = 64

/**
 * First the leads, each unchanged and with one other value changed; then a plain call with one, two and all values
 * changed.
 * @param starts classes of values by path under which a difference is expected
 * @param limit of proposals
 */
export function* proposeWitnesses(
  sides: readonly ComparedEntries[],
  schemas: readonly JsonSchema[],
  starts: readonly ReadonlyMap<string, readonly ValueClass[]>[],
  widenings: readonly Widening[],
  limit: number,
): Generator<ProposedCall> {
  const base = sampleArguments(schemas)
  const pools = dropRefused(poolsOf(sides, schemas, widenings, base), schemas, base)
  const make = (chosen: ChosenValues): ProposedCall => buildCall(schemas, base, pools, chosen)
  let made = 0
  for (const start of [...starts.flatMap((lead) => triesOf(lead, pools)), new Map<string, Choice>()]) {
    yield make(start)
    for (const pool of pools)
      for (const choice of start.has(pool.text) ? [] : pool.choices) {
        if (made++ >= limit) return
        yield make(new Map([...start, [pool.text, choice]]))
      }
  }
  const total = pools.reduce((product, { choices }) => product * choices.length, 1)
  if (made + total <= limit) {
    for (let number = 0; number < total; number++) yield make(choiceAt(pools, number))
    return
  }
  for (const [index, first] of pools.entries())
    for (const second of pools.slice(index + 1))
      for (const a of first.choices)
        for (const b of second.choices) {
          if (made++ >= limit) return
          yield make(
            new Map([
              [first.text, a],
              [second.text, b],
            ]),
          )
        }
}

/** A lead with values of its classes: the first of each, then each alternative alone, then all combinations if they are few. */
function triesOf(lead: ReadonlyMap<string, readonly ValueClass[]>, pools: readonly Pool[]): readonly ChosenValues[] {
  const asked = pools.flatMap((pool) => {
    const classes = lead.get(pool.text)
    const choices = classes ? classes.flatMap((each) => pool.choicesIn(each)) : []
    return choices.length > 0 ? [{ ...pool, choices }] : []
  })
  const total = asked.reduce((product, { choices }) => product * choices.length, 1)
  if (total <= MAX_TRIES) return Array.from({ length: total }, (_, number) => choiceAt(asked, number))
  const first = choiceAt(asked, 0)
  const others = asked.flatMap(({ text, choices }) =>
    choices.slice(1).map((choice) => new Map([...first, [text, choice]])),
  )
  return [first, ...others.slice(0, MAX_TRIES)]
}

const choiceAt = (pools: readonly Pool[], number: number): ChosenValues =>
  new Map(nthCombination(pools, ({ choices }) => choices, number).map(([{ text }, choice]) => [text, choice]))

/** A call that the schemas accept, if one can be generated. */
function sampleArguments(schemas: readonly JsonSchema[]): JsonObject {
  const sample = sampleValue(onlyItem(schemas) ?? { allOf: [...schemas] as JsonValue[] }, {})
  return isJsonObject(sample) ? sample : {}
}

/** Drops values that the schemas refuse, if the plain call is accepted. */
function dropRefused(pools: readonly Pool[], schemas: readonly JsonSchema[], base: JsonObject): readonly Pool[] {
  const isAccepted = (args: JsonObject): boolean => schemas.every((schema) => checkValue(schema, args).length === 0)
  if (!isAccepted(base)) return pools
  return pools.map((pool): Pool => {
    if (pool.path.root !== 'args') return pool
    const known = new Map<string, boolean>()
    const fits = (choice: Choice): boolean => {
      // Leads try the same few values repeatedly, and a check may run within a time limit.
      const text = JSON.stringify(choice)
      const fit = known.get(text) ?? isAccepted(buildCall(schemas, base, [pool], new Map([[pool.text, choice]])).args)
      known.set(text, fit)
      return fit
    }
    const choices = pool.choices.filter(fits)
    // Values that fail alone may fit together with others.
    if (choices.length === 0) return pool
    return { ...pool, choices, choicesIn: (each) => pool.choicesIn(each).filter(fits) }
  })
}

function poolsOf(
  sides: readonly ComparedEntries[],
  schemas: readonly JsonSchema[],
  widenings: readonly Widening[],
  base: JsonObject,
): readonly Pool[] {
  const pools = new Map<string, Pool>()
  const add = (text: string, path: ConditionPath, more: readonly Choice[]): void => {
    const known = pools.get(text)
    pools.set(text, {
      text,
      path,
      choices: [...(known?.choices ?? []), ...more],
      choicesIn: (each) => known?.choicesIn(each) ?? [],
    })
  }
  for (const { text, path, leaves, lists, domain, widenings: here } of subjectsOf(sides, schemas, widenings).values()) {
    const usually = valueInBase(base, path)
    const hints = here.flatMap(({ hint }) => hint?.values ?? [])
    const choicesIn = (each: ValueClass): readonly Choice[] => candidatesOf(each, domain, hints, usually)
    const classes = classesOf(
      leaves,
      lists,
      domain,
      here.flatMap(({ marks }) => marks),
    )
    const choices = [...(usually === undefined ? [] : [{ value: usually }]), ...classes.flatMap(choicesIn)]
    pools.set(text, { text, path, choices, choicesIn })
  }
  for (const { hint } of widenings)
    if (hint)
      add(
        hint.path.text,
        hint.path,
        hint.values.map((value) => ({ value })),
      )
  for (const leaf of sides.flatMap(({ entries }) => entries.flatMap(leavesOfEntry))) {
    const text = subjectText(withoutFunction(leaf.path), leaf.windowMs)
    if (FIXED_ROOTS.includes(leaf.path.root) || isCovered(leaf)) continue
    add(text, withoutFunction(leaf.path), valuesAround(leaf, schemas))
    const list = isSpread(leaf.path) ? readArgumentPath(text.slice(0, text.indexOf('[*]'))) : undefined
    if (list) add(list.text, list, NO_LISTS)
  }
  return [...pools.values()].filter(({ choices }) => choices.length > 0)
}

/** In place of a list. */
const NO_LISTS: readonly Choice[] = [{ state: 'absent' }, { value: 'unreadable' }, { value: [] }]

/** Facts that are the same for every proposal. */
const FIXED_ROOTS: readonly FactRoot[] = ['source', 'tool', 'agent']

/** True for a comparison whose values `classesOf` has already proposed. */
const isCovered = ({ op, path }: ConditionLeaf): boolean =>
  EXACT.includes(op) && path.fn === undefined && !isSpread(path)

function valueInBase(base: JsonObject, { root, segments }: ConditionPath): JsonValue | undefined {
  if (root !== 'args') return undefined
  return segments.reduce<JsonValue | undefined>(
    (at, segment) => ('key' in segment && isJsonObject(at) ? ownMember(at, segment.key) : undefined),
    base,
  )
}

/** Values that may make a comparison true or false. */
function valuesAround({ path, op, value }: ConditionLeaf, schemas: readonly JsonSchema[]): readonly Choice[] {
  if (path.root === 'time') return HOURS
  const literals = Array.isArray(value) ? value : [value]
  const values = literals.flatMap((literal) => valuesAroundLiteral(path, op, literal))
  const all = [...values, ...namedIn(domainAt(path, schemas)), 'other', 1]
  return [...new Set(all)].map((each) => ({ value: each }))
}

/** Hours of half a week, from a Thursday midnight to a Monday. */
const HOURS: readonly Choice[] = Array.from({ length: 24 * 4 }, (_, hour) => ({
  value: Date.UTC(2026, 0, 1, hour),
}))

function valuesAroundLiteral({ fn }: ConditionPath, op: ConditionLeaf['op'], literal: JsonValue): readonly JsonValue[] {
  if (fn === 'length') return typeof literal === 'number' ? valuesOfLength(literal) : []
  if (typeof literal === 'number') return [literal, literal - 1, literal + 1]
  if (typeof literal !== 'string') return [literal]
  if (fn === 'host') return [`https://${literal}/`, `https://x.${literal}/`, 'https://other.example/']
  if (fn === 'email_domain') return [`someone@${literal}`, 'someone@other.example']
  if (op === 'cidr') return [textBefore(literal, '/'), '203.0.113.7', '10.0.0.1', '192.168.0.1']
  if (op === 'semver') return [literal.replace(/^[^\d]*/, ''), '0.0.1', '1.0.0', '99.0.0']
  return [literal, `${literal}x`, `x${literal}`, `x${literal}x`, literal.toUpperCase()]
}

const valuesOfLength = (literal: number): readonly JsonValue[] =>
  [0, literal - 1, literal, literal + 1]
    .filter((each) => Number.isInteger(each) && each >= 0 && each <= 1000)
    .flatMap((each) => ['x'.repeat(each), Array.from({ length: each }, () => 'x')])

function buildCall(
  schemas: readonly JsonSchema[],
  base: JsonObject,
  pools: readonly Pool[],
  chosen: ChosenValues,
): ProposedCall {
  let args: JsonValue = base
  const context: Record<string, JsonValue> = {}
  for (const { text, path } of pools) {
    const choice = chosen.get(text)
    if (!choice) continue
    if (path.root === 'args') args = setValue(schemas, args, path.segments, choice)
    else if (!('state' in choice)) context[text] = choice.value
    // Null means an absent field, or a measure that is unknown.
    else context[text] = null
  }
  return { args: isJsonObject(args) ? args : {}, context }
}

/** A copy with another value at a path; missing parents are created. */
function setValue(
  schemas: readonly JsonSchema[],
  at: JsonValue | undefined,
  segments: readonly PathSegment[],
  choice: Choice,
  depth = 0,
): JsonValue {
  const first = segments[depth]
  if (!first) return 'state' in choice ? 'unreadable' : choice.value
  const next = (value: JsonValue | undefined): JsonValue => setValue(schemas, value, segments, choice, depth + 1)
  if ('each' in first) return [next(undefined)]
  if ('index' in first) {
    const list: JsonValue[] = Array.isArray(at) ? [...at] : []
    while (list.length <= Math.min(first.index, 100)) list.push(null)
    list[first.index] = next(list[first.index])
    return list
  }
  const members = isJsonObject(at) ? at : generateMapping(schemas, segments.slice(0, depth))
  if (depth === segments.length - 1 && 'state' in choice) {
    if (choice.state === 'unreadable') return 'unreadable'
    const { [first.key]: _, ...others } = members
    return others
  }
  return { ...members, [first.key]: next(ownMember(members, first.key)) }
}

/** A mapping that the schemas accept at a path, if one can be generated. */
function generateMapping(schemas: readonly JsonSchema[], segments: readonly PathSegment[]): JsonObject {
  const found = domainBelow(schemas, segments).schemas.find(({ schema }) => isJsonObject(schema))
  if (!found || !isJsonObject(found.root)) return {}
  const sample = sampleValue(attachDefinitions(found.schema as JsonObject, found.root), {})
  return isJsonObject(sample) ? sample : {}
}
