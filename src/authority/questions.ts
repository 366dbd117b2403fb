/**
 * Turns two sets of policies into independent questions. Each compared path becomes a question whose answers cover all
 * cases. A comparison whose cases cannot be listed (a pattern, a function, the time of day) becomes a question of its own:
 * true, false or unknown. The questions are independent, so there are more combinations than calls: what holds for all
 * combinations holds for all calls.
 */
import { canonicalJson, type JsonValue } from '../base/json/json.ts'
import {
  conditionOfEntry,
  leavesOfEntry,
  writeCondition,
  type Condition,
  type ConditionLeaf,
} from '../policy/condition/condition.ts'
import type { CallFacts } from '../policy/condition/decision.ts'
import { evaluateCondition } from '../policy/condition/evaluate.ts'
import { inWindow } from '../policy/condition/history.ts'
import { isSpread, readArgumentPath, type ConditionPath, type FactRoot } from '../policy/condition/path.ts'
import { entryIdOf, sealSet } from '../policy/policy-set.ts'
import type { PolicyEntry, PolicySet } from '../spec/policy-set.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { comparedFactsOf, type ComparedCallee } from './callee.ts'
import type { Widening } from './widening.ts'
import { classesOf, EXACT, listText, type ValueClass } from '../policy/prove/classes.ts'
import { isNeverUnknown } from '../policy/prove/conditions.ts'
import { domainAt, type ValueDomain } from '../policy/prove/domains.ts'
import { getOrInsert } from '../base/values/collections.ts'

/** The name under which the rewritten policies are decided. */
export const QUESTION_WIRE = 'asked'

export interface ComparedSide {
  readonly callee: ComparedCallee
  readonly entries: readonly PolicyEntry[]
}

/** What policies compare, without what they decide. */
export interface ComparedEntries {
  readonly entries: readonly Pick<PolicyEntry, 'when' | 'allow'>[]
}

export interface DomainQuestion {
  /** Name of the argument that holds the answer. */
  readonly key: string
  /** The path in question; absent for a comparison with a question of its own. */
  readonly subject?: QuestionSubject
  readonly answers: readonly DomainAnswer[]
}

export interface DomainAnswer {
  /** Value of the argument; undefined = left out. */
  readonly given: JsonValue | undefined
  /** The classes of values for which all comparisons have the same results as for `given`. */
  readonly classes: readonly ValueClass[]
  /** True if the earlier schema may have refused such a value. */
  readonly isNew: boolean
}

export interface QuestionSubject {
  /** Path of an argument, or key of another fact. */
  readonly text: string
  readonly path: ConditionPath
  readonly leaves: readonly ConditionLeaf[]
  readonly lists: readonly (readonly string[])[]
  readonly domain: ValueDomain
  /** What the earlier schema refused here and the later one may accept. */
  readonly widenings: readonly Widening[]
}

export interface DomainQuestions {
  readonly before: PolicySet
  readonly after: PolicySet
  readonly questions: readonly DomainQuestion[]
  /** Comparisons in one decision of each set. */
  readonly cost: number
}

/**
 * @param schemas arguments satisfy each
 * @param widenings where these may accept what the earlier ones refused; each is a question
 * @returns undefined if a condition cannot be read
 */
export function questionDomains(
  before: ComparedSide,
  after: ComparedSide,
  schemas: readonly JsonSchema[],
  widenings: readonly Widening[] = [],
): DomainQuestions | undefined {
  const sides = [before, after].map((side) => ({ side, parts: side.entries.map(partOf) }))
  if (sides.some(({ parts }) => parts.some((part) => part === undefined))) return undefined
  const subjects = subjectsOf([before, after], schemas, widenings)
  const keys = new Map([...subjects.keys()].map((text, index) => [text, `s${index}`]))
  const own = new Map<string, DomainQuestion>()
  let cost = 0

  const rewrite = (condition: Condition, callee: ComparedCallee, name: string): Condition => {
    if ('not' in condition) return { not: rewrite(condition.not, callee, name) }
    if ('all' in condition) return { all: condition.all.map((each) => rewrite(each, callee, name)) }
    if ('any' in condition) return { any: condition.any.map((each) => rewrite(each, callee, name)) }
    cost++
    const { leaf } = condition
    const key = isExact(leaf) ? keys.get(subjectText(leaf.path, leaf.windowMs)) : undefined
    if (key !== undefined) return { leaf: moveLeaf(leaf, key) }
    return { leaf: { path: argumentPath(addStandaloneQuestion(own, leaf, callee, name)), op: 'eq', value: true } }
  }
  const [first, second] = sides.map(({ side, parts }, index) =>
    setOf(
      (parts as VersionPart[]).map(({ entry, condition }) => {
        const key = entry.allow && keys.get(canonicalField(entry.allow.field))
        if (entry.allow && key === undefined) throw new Error(`${entry.allow.field} is no argument path.`)
        const { when: _, allow, ...rest } = entry
        const content = {
          ...rest,
          ...(condition && { when: writeCondition(rewrite(condition, side.callee, String(index))) }),
          ...(allow && { allow: { field: `args.${key}.v`, values: allow.values } }),
        }
        return { ...content, id: entryIdOf(content) }
      }),
    ),
  ) as [PolicySet, PolicySet]
  const asked = [...subjects.values()].flatMap((subject): DomainQuestion[] => {
    const key = keys.get(subject.text)
    return key === undefined ? [] : [{ key, subject, answers: answersOf(subject, key) }]
  })
  return { before: first, after: second, questions: [...asked, ...own.values()], cost: cost + before.entries.length }
}

/** The paths that the policies of either side compare exactly, and those of widenings, with everything they are compared with. */
export function subjectsOf(
  sides: readonly ComparedEntries[],
  schemas: readonly JsonSchema[],
  widenings: readonly Widening[] = [],
): ReadonlyMap<string, QuestionSubject> {
  type Found = Pick<QuestionSubject, 'path'> & {
    leaves: ConditionLeaf[]
    lists: (readonly string[])[]
    widenings: Widening[]
  }
  const found = new Map<string, Found>()
  const at = (text: string, path: ConditionPath): Found =>
    getOrInsert(found, text, () => ({ path, leaves: [], lists: [], widenings: [] }))
  for (const { entries } of sides)
    for (const entry of entries) {
      const { allow } = entry
      const list = allow && readArgumentPath(allow.field)
      if (list) at(list.text, list).lists.push(allow.values)
      for (const leaf of leavesOfEntry(entry))
        if (isExact(leaf)) at(subjectText(leaf.path, leaf.windowMs), leaf.path).leaves.push(leaf)
    }
  for (const widening of widenings) if (widening.path) at(widening.path.text, widening.path).widenings.push(widening)
  return new Map(
    [...found].map(([text, { path, ...asked }]) => [text, { text, path, ...asked, domain: domainAt(path, schemas) }]),
  )
}

export const subjectText = (path: ConditionPath, windowMs: number | undefined): string => inWindow(path.text, windowMs)

interface VersionPart {
  readonly entry: PolicyEntry
  readonly condition?: Condition
}

function partOf(entry: PolicyEntry): VersionPart | undefined {
  const condition = conditionOfEntry(entry)
  return entry.when === undefined ? { entry } : condition && { entry, condition }
}

const isExact = ({ path, op }: ConditionLeaf): boolean =>
  EXACT.includes(op) && path.fn === undefined && !isSpread(path) && VARYING_ROOTS.includes(path.root)

/** Roots whose facts differ from call to call. Those of the tool and the agent are known, and `time` is compared with `within` only. */
const VARYING_ROOTS: readonly FactRoot[] = ['args', 'run', 'session', 'principal', 'svc', 'history']

const canonicalField = (field: string): string => readArgumentPath(field)?.text ?? field

/** A comparison as a question of its own, shared by both sides; facts known of a version apply to its own side only. */
function addStandaloneQuestion(
  questions: Map<string, DomainQuestion>,
  leaf: ConditionLeaf,
  callee: ComparedCallee,
  side: string,
): string {
  const { root } = leaf.path
  const ofVersion = !callee.anyone && (root === 'agent' || root === 'tool')
  const known = ofVersion && !(root === 'tool' && callee.late)
  const text = `${ofVersion ? side : ''}:${canonicalJson(writeCondition({ leaf }))}`
  const found = questions.get(text)
  if (found) return found.key
  const key = `q${questions.size}`
  const possible = isNeverUnknown(leaf) ? [TRUTHS.true, TRUTHS.false] : [TRUTHS.true, TRUTHS.false, TRUTHS.unknown]
  const answers = known ? [TRUTHS[evaluateCondition({ leaf }, comparedFactsOf(callee, {})).truth]] : possible
  questions.set(text, { key, answers: answers.map((given) => ({ given, classes: [], isNew: false })) })
  return key
}

/** The value that makes `eq true` evaluate to each truth value. */
const TRUTHS = { true: true, false: false, unknown: undefined } as const

/** One answer for each combination of results of a subject's comparisons. */
function answersOf(subject: QuestionSubject, key: string): readonly DomainAnswer[] {
  const { leaves, lists, domain, widenings } = subject
  const outcomes = new Map<string, { given: JsonValue; classes: ValueClass[]; isNew: boolean }>()
  const tests = leaves.map((leaf): Condition => ({ leaf: moveLeaf(leaf, key) }))
  for (const each of classesOf(
    leaves,
    lists,
    domain,
    widenings.flatMap(({ marks }) => marks),
  )) {
    const given = givenOf(each)
    const facts = { args: { [key]: given } } as unknown as CallFacts
    const text = 'value' in each ? listText(each.value) : undefined
    const isNew = widenings.some((widening) => widening.mayAdmit(each))
    const outcome = JSON.stringify([
      isNew,
      ...tests.map((test) => evaluateCondition(test, facts).truth),
      ...lists.map((list) => text !== undefined && list.includes(text)),
    ])
    const known = outcomes.get(outcome)
    if (known) known.classes.push(each)
    else outcomes.set(outcome, { given, classes: [each], isNew })
  }
  return [...outcomes.values()]
}

function givenOf(each: ValueClass): JsonValue {
  if ('value' in each) return { v: each.value }
  return each.kind === 'absent' ? {} : 'unreadable'
}

const moveLeaf = ({ op, value, ifMissing }: ConditionLeaf, key: string): ConditionLeaf => ({
  path: { text: `args.${key}.v`, root: 'args', segments: [{ key }, { key: 'v' }] },
  op,
  value,
  ...(ifMissing !== undefined && { ifMissing }),
})

const argumentPath = (key: string): ConditionPath => ({ text: `args.${key}`, root: 'args', segments: [{ key }] })

const setOf = (entries: readonly PolicyEntry[]): PolicySet =>
  sealSet({
    v: 1,
    compiler: '1',
    agent: QUESTION_WIRE,
    entries,
    index: { [QUESTION_WIRE]: entries.map(({ id }) => id) },
    inherited: [],
  })
