/**
 * Whether any call of a tool can pass its policies: a proof that none can, or a call that does. The proof is that the
 * conditions under which a call passes exclude each other. Every witness was decided like a real call.
 * Source: docs/design/prover.md#bounds-and-lists
 */
import type { JsonObject, JsonValue } from '../base/json/json.ts'
import { conditionOfEntry, writeCondition, type Condition } from '../policy/condition/condition.ts'
import { decideByPolicies } from '../policy/decide.ts'
import type { PolicyDecision, CallFacts, PolicySets } from '../policy/condition/decision.ts'
import { evaluateCondition } from '../policy/condition/evaluate.ts'
import { readArgumentPath } from '../policy/condition/path.ts'
import { listedValues } from '../policy/prove/classes.ts'
import { isSatisfiable } from '../policy/prove/conditions.ts'
import { possibleValuesUnder } from '../policy/prove/possible-values.ts'
import type { PolicyEntry } from '../spec/policy-set.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { proposeWitnesses } from './proposals.ts'
import { onlyItem } from '../base/values/collections.ts'

export interface PassQuestion {
  readonly sets: PolicySets
  readonly callee: CallFacts['tool']
  /** Arguments satisfy each. */
  readonly schemas: readonly JsonSchema[]
  /** A call that passes without a person. */
  readonly unattended: boolean
  readonly where?: Condition
  readonly factsOf: (args: JsonObject, context: JsonObject) => CallFacts
  readonly accepts: (args: JsonObject) => boolean
}

export interface PassAnswer {
  readonly can: 'never' | 'yes' | 'not_proven'
  readonly witness?: {
    readonly arguments: JsonObject
    readonly context: JsonObject
    readonly decision: PolicyDecision['decision']
  }
  /** The policies that stop every call, or that let the witness pass. */
  readonly by: readonly string[]
}

export function findPassableCall(question: PassQuestion): PassAnswer {
  const entries = entriesOf(question)
  const needs = entries.flatMap((entry) => passCondition(entry, question.unattended))
  const schema: JsonObject = { allOf: question.schemas.map((each) => each as JsonValue) }
  const domains = possibleValuesUnder(onlyItem(question.schemas) ?? schema)
  const clause = defaultClause(question, entries)
  const all = [
    ...needs.map(({ condition }) => condition),
    ...(clause ? [clause] : []),
    ...(question.where ? [question.where] : []),
  ]
  const together = (conditions: readonly Condition[]): boolean =>
    !conditions.some(isNever) && (conditions.length === 0 || isSatisfiable({ all: conditions }, domains))
  if (!together(all)) {
    // A single policy that stops every call explains more than all of them together.
    const rest = [...(clause ? [clause] : []), ...(question.where ? [question.where] : [])]
    const alone = needs.filter(({ condition }) => !together([condition, ...rest]))
    return { can: 'never', by: policyNames((alone.length > 0 ? alone : needs).map(({ entry }) => entry)) }
  }
  return witnessOf(question, entries) ?? { can: 'not_proven', by: policyNames(needs.map(({ entry }) => entry)) }
}

const policyNames = (entries: readonly PolicyEntry[]): readonly string[] =>
  [...new Set(entries.map(({ policy, version }) => `${policy}@${version}`))].sort()

/**
 * The entries that apply to the call wherever the agent runs. A witness must pass the gates of ancestors too; a proof must
 * not use them, because the agent may run alone.
 */
function entriesOf({ sets: { own }, callee }: PassQuestion): readonly PolicyEntry[] {
  const ids = own.index[callee.wire_name] ?? []
  return own.entries.filter(({ id }) => ids.includes(id))
}

/** Never true. */
const NEVER: Condition = { any: [] }

const isNever = (condition: Condition): boolean => 'any' in condition && condition.any.length === 0

/** True if the task approves the call when it times out, so that no person is needed. */
const passesInTime = ({ obligations }: PolicyEntry): boolean => obligations.timeout?.default === 'allow'

/** The conditions under which one policy does not stop a call. */
function passCondition(
  entry: PolicyEntry,
  unattended: boolean,
): readonly { readonly entry: PolicyEntry; readonly condition: Condition }[] {
  const { effect, when, allow } = entry
  const asks = effect === 'require_approval' || effect === 'escalate'
  if (effect === 'grant' || (asks && (!unattended || passesInTime(entry)))) return []
  const condition = conditionOfEntry(entry)
  // A condition that cannot be read denies at run time.
  if (when !== undefined && condition === undefined) return [{ entry, condition: NEVER }]
  // A gate fires on unknown, so its condition must be false.
  const silent: readonly Condition[] = condition ? [{ not: condition }] : []
  const path = allow && readArgumentPath(allow.field)
  if (effect === 'restrict' && !path) return []
  const listed: readonly Condition[] =
    path && allow ? [{ leaf: { path, op: 'in', value: allow.values.flatMap(listedValues) } }] : []
  return [{ entry, condition: { any: [...silent, ...listed] } }]
}

/** An irreversible action needs a grant to pass without a person. */
function defaultClause({ unattended, callee }: PassQuestion, entries: readonly PolicyEntry[]): Condition | undefined {
  if (!unattended || callee.side_effect_class !== 'irreversible_action') return undefined
  // If a policy requires approval, the default does not apply.
  if (
    entries.some((entry) => (entry.effect === 'require_approval' || entry.effect === 'escalate') && passesInTime(entry))
  )
    return undefined
  const grants = entries.filter(({ effect }) => effect === 'grant')
  if (grants.some(({ when }) => when === undefined)) return undefined
  return { any: grants.flatMap((grant) => conditionOfEntry(grant) ?? []) }
}

/** Calls that are tried. */
const MAX_CALLS = 4000

/** Decides calls with values around everything that the policies and `where` compare, until one passes. */
function witnessOf(question: PassQuestion, entries: readonly PolicyEntry[]): PassAnswer | undefined {
  const { sets, callee, schemas, unattended, where, factsOf, accepts } = question
  const compared = [...entries, ...(where ? [{ when: writeCondition(where) }] : [])]
  for (const { args, context } of proposeWitnesses([{ entries: compared }], schemas, [], [], MAX_CALLS)) {
    if (!accepts(args)) continue
    const facts = factsOf(args, context)
    if (where && evaluateCondition(where, facts).truth !== 'true') continue
    const { decision, policies, obligations } = decideByPolicies(sets, callee.wire_name, facts)
    const needsPerson = decision !== 'allow' && obligations?.timeout?.default !== 'allow'
    if (decision === 'deny' || (unattended && needsPerson)) continue
    const by = policies.filter(({ matched }) => matched === true).map(({ id, version }) => `${id}@${version}`)
    return { can: 'yes', witness: { arguments: args, context, decision }, by: [...new Set(by)].sort() }
  }
  return undefined
}
