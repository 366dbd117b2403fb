/** Policies and calls as one line of text. */
import { shortenText } from '../base/text/cut-text.ts'
import { canonicalJson } from '../base/json/json.ts'
import { conditionOfEntry } from '../policy/condition/condition.ts'
import { describeCondition, describeValue } from '../policy/condition/describe.ts'
import { PROOF_NAMES } from '../spec/people/decision-proof.ts'
import type { PolicyEffect, ApprovalObligations, PolicyEntry } from '../spec/policy-set.ts'
import type { WitnessCall } from './witness.ts'

const EFFECTS: Readonly<Record<PolicyEffect, string>> = {
  grant: 'allow',
  restrict: 'allow only',
  require_approval: 'require approval',
  escalate: 'escalate',
  deny: 'deny',
}

/** `acme.limit: require approval when args.amount > 100`. */
export function describePolicyEntry(entry: PolicyEntry): string {
  const { policy, effect, allow, obligations } = entry
  const condition = conditionOfEntry(entry)
  return [
    `${policy}: ${EFFECTS[effect]}`,
    ...(allow ? [`${allow.values.join(', ')} as ${allow.field}`] : []),
    ...(condition ? [`when ${describeCondition(condition)}`] : []),
    ...describeObligations(obligations),
  ].join(' ')
}

function describeObligations({
  approvals_required: approvals,
  comprehension_required: comprehension,
  timeout,
  approver_role: role,
  separation_of_duties: separation,
  approval_proof: proof,
  bulk,
  on_reject: rejected,
  on_modify: modified,
}: ApprovalObligations): string[] {
  const parts = [
    ...(approvals !== undefined && approvals > 1 ? [`${approvals} approvals`] : []),
    ...(comprehension ? ['comprehension'] : []),
    ...(role === undefined ? [] : [`role ${role}`]),
    ...(separation ? ['separation of duties'] : []),
    ...(proof === undefined || proof === 'none' ? [] : [`by ${PROOF_NAMES[proof]}`]),
    ...(bulk ? ['also together with others'] : []),
    ...(rejected === 'fail' ? ['a rejection fails the run'] : []),
    ...(modified === undefined || modified === 'revalidate' ? [] : [`${modified} edits`]),
    ...(timeout ? [`${timeout.default} after ${timeout.after_minutes} min`] : []),
  ]
  return parts.length === 0 ? [] : [`(${parts.join(', ')})`]
}

/** Merges two policies that differ in few words: `… when args.amount > 100 → 250 (deny after 30 min)`. */
export function describePolicyChange(from: string, to: string): string {
  const [before, after] = [from.split(' '), to.split(' ')]
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head++
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const [old, now] = [before, after].map((words) => words.slice(head, words.length - tail)) as [string[], string[]]
  if (head === 0 || old.length === 0 || now.length === 0 || Math.max(old.length, now.length) > MAX_WORDS)
    return `${from} → ${to}`
  return [...before.slice(0, head), ...old, '→', ...now, ...before.slice(before.length - tail)].join(' ')
}

/** With more differing words, two separate texts are easier to read. */
const MAX_WORDS = 2

/** `{"amount":250} was require_approval, is allow`. */
export function describeWitness({ arguments: args, context, before, after }: WitnessCall): string {
  const where = Object.entries(context ?? {}).map(([path, value]) => `${path} ${describeValue(value)}`)
  const was = before === 'refused' ? 'refused by the input schema' : before
  const outcome = before === after ? `is still ${after}, with less asked for` : `was ${was}, is ${after}`
  // The JSON output has long arguments in full.
  return `${shortenText(canonicalJson(args), 200)}${where.length > 0 ? ` with ${where.join(', ')}` : ''} ${outcome}`
}
