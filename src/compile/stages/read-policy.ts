/** Reads a Policy document once, for every place where it is attached. Source: docs/design/policies.md#conditions */
import type { JsonObject } from '../../base/json/json.ts'
import type { Document } from '../../documents/text/document.ts'
import { readCondition, writeCondition, type ConditionProblem } from '../../policy/condition/condition.ts'
import { isDecisionProof } from '../../spec/people/decision-proof.ts'
import type { DecisionType, PolicyDocument } from '../../spec/document.ts'
import type { ApprovalObligations } from '../../spec/policy-set.ts'
import type { PublishedDocument } from '../../spec/snapshot.ts'
import {
  failUnchecked,
  reportFinding,
  type ResolvedPolicy,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

type PolicyDecisionSpec = NonNullable<PolicyDocument['spec']['decision']>

const RULES: Readonly<Record<ConditionProblem['code'], `policy/${string}`>> = {
  syntax: 'policy/condition-syntax',
  field: 'policy/condition-field',
  type: 'policy/type-mismatch',
  pattern: 'policy/pattern-invalid',
  cost: 'policy/cost',
}

const SCOPE = /^tool:([^\s@/:]+\.[^\s@/.:]+)$/

/** Undefined if the document has an error, which is then reported. */
export function readPolicyDocument(
  state: CompileState,
  policy: PolicyDocument,
  published: PublishedDocument,
  spotOf: (pointer: string) => DocumentPlace,
  document?: Document,
): ResolvedPolicy | undefined {
  const { id, version } = published
  const { decision, conditions, scope } = policy.spec
  if (!decision) return failUnchecked('policy/no-decision', spotOf('/spec'))
  const before = state.findings.length
  const when = conditions && readWhen(state, conditions, spotOf)
  const scoped = scope === undefined ? undefined : readScope(scope, spotOf('/spec/scope'))
  const effect = policyEffectOf(decision.type, policy.spec.allow)
  if (state.findings.slice(before).some((each) => each.severity === 'error')) return undefined
  return {
    id,
    version,
    policy,
    published,
    effect,
    obligations: obligationsFor(effect, decision),
    ...(document && { document }),
    ...(when && { when }),
    ...(scoped !== undefined && { scope: scoped }),
    place: document ? placeOf(document) : {},
  }
}

export function policyEffectOf(type: DecisionType, allow: readonly string[] | undefined): ResolvedPolicy['effect'] {
  if (type === 'allow') return allow === undefined ? 'grant' : 'restrict'
  return type === 'block' ? 'deny' : type
}

const readScope = (scope: string, at: DocumentPlace): string =>
  SCOPE.exec(scope)?.[1] ?? failUnchecked('policy/scope-syntax', at)

function readWhen(
  state: CompileState,
  conditions: JsonObject,
  spotOf: (pointer: string) => DocumentPlace,
): JsonObject | undefined {
  const { condition, problems } = readCondition(conditions)
  for (const { code, pointer, message } of problems)
    reportFinding(state, RULES[code], spotOf(`/spec/conditions${pointer}`), message)
  return condition && writeCondition(condition)
}

function obligationsFor(effect: ResolvedPolicy['effect'], decision: PolicyDecisionSpec): ApprovalObligations {
  if (effect === 'require_approval' || effect === 'escalate') return obligationsOf(decision)
  return effect === 'grant' ? standingOf(decision) : {}
}

/** What an approval of the decision asks for. Essential rules check the range of each value. */
export function obligationsOf(decision: PolicyDecisionSpec): ApprovalObligations {
  const { approvals_required: approvals, comprehension_required: comprehension, timeout, runtime = {} } = decision
  const onReject = decision.on_reject as ApprovalObligations['on_reject']
  const onModify = decision.on_modify as ApprovalObligations['on_modify']
  const role = runtime['svc/approver_role']
  const proof = runtime['svc/approval_proof']
  return {
    ...(approvals !== undefined && { approvals_required: approvals }),
    ...(comprehension !== undefined && { comprehension_required: comprehension }),
    ...(timeout && { timeout: { after_minutes: timeout.after_minutes, default: timeout.default } }),
    ...(onReject && { on_reject: onReject }),
    ...(onModify && { on_modify: onModify }),
    ...(typeof role === 'string' && { approver_role: role }),
    ...(runtime['svc/separation_of_duties'] === true && { separation_of_duties: true }),
    ...(isDecisionProof(proof) && { approval_proof: proof }),
    ...(runtime['svc/bulk'] === true && { bulk: true }),
    ...standingOf(decision),
  }
}

/** The name under which an operator can end the authority of the policy. */
function standingOf({ runtime }: PolicyDecisionSpec): Pick<ApprovalObligations, 'standing'> {
  const standing = runtime?.['svc/standing']
  return typeof standing === 'string' && standing !== '' ? { standing } : {}
}

function placeOf(document: Document): ResolvedPolicy['place'] {
  const pointer = '/spec/decision'
  const line = (document.keySpanOf(pointer) ?? document.spanOf(''))?.start.line
  return { path: document.path, pointer, ...(line !== undefined && { line }) }
}
