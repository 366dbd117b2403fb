/** Reads a Policy document once, for every place where it is attached. Source: docs/design/policies.md#conditions */
import type { JsonObject } from '../../base/json/json.ts'
import type { Document } from '../../documents/text/document.ts'
import { readCondition, writeCondition, type ConditionProblem } from '../../policy/condition/condition.ts'
import type { DecisionType, PolicyDocument } from '../../spec/document.ts'
import type { ApprovalObligations } from '../../spec/policy-set.ts'
import type { PublishedDocument } from '../../spec/snapshot.ts'
import { reportFinding, type ResolvedPolicy, type DocumentPlace, type CompileState } from '../state/state.ts'

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
  if (!decision)
    return reportFinding(
      state,
      'policy/no-decision',
      spotOf('/spec'),
      `${id} decides nothing: spec.decision is missing.`,
    )
  const before = state.findings.length
  const when = conditions && readWhen(state, conditions, spotOf)
  const scoped = scope === undefined ? undefined : SCOPE.exec(scope)?.[1]
  if (scope !== undefined && scoped === undefined)
    reportFinding(
      state,
      'policy/scope-syntax',
      spotOf('/spec/scope'),
      `"${scope}" is not of the form tool:<namespace.name>.`,
    )
  const effect = policyEffectOf(decision.type, policy.spec.allow)
  const obligations =
    effect === 'require_approval' || effect === 'escalate'
      ? readObligations(state, decision, spotOf)
      : effect === 'grant'
        ? standingOf(decision)
        : {}
  if (state.findings.slice(before).some((each) => each.severity === 'error')) return undefined
  return {
    id,
    version,
    policy,
    published,
    effect,
    obligations,
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

function readObligations(
  state: CompileState,
  decision: PolicyDecisionSpec,
  spotOf: (pointer: string) => DocumentPlace,
): ApprovalObligations {
  const { approvals_required: approvals, timeout } = decision
  const reportAt = (rule: `${string}/${string}`, key: string, message: string) =>
    reportFinding(state, rule, spotOf(`/spec/decision/${key}`), message)
  if (approvals !== undefined && (approvals < 1 || approvals > 10))
    reportAt('approval/count-range', 'approvals_required', `approvals_required is between 1 and 10, not ${approvals}.`)
  if (timeout && timeout.after_minutes < 1)
    reportAt(
      'approval/timeout-range',
      'timeout/after_minutes',
      `after_minutes is at least 1, not ${timeout.after_minutes}.`,
    )
  const onReject = oneOf(['return_to_agent', 'fail'] as const, decision.on_reject, (list) =>
    reportAt('approval/on-reject-value', 'on_reject', `on_reject is ${list}, not "${decision.on_reject}".`),
  )
  const onModify = oneOf(['revalidate', 'accept', 'reject'] as const, decision.on_modify, (list) =>
    reportAt('approval/on-modify-value', 'on_modify', `on_modify is ${list}, not "${decision.on_modify}".`),
  )
  return obligationsOf(decision, onReject, onModify)
}

/** @param onReject checked @param onModify checked */
export function obligationsOf(
  decision: PolicyDecisionSpec,
  onReject: ApprovalObligations['on_reject'],
  onModify: ApprovalObligations['on_modify'],
): ApprovalObligations {
  const { approvals_required: approvals, comprehension_required: comprehension, timeout, runtime = {} } = decision
  const role = runtime['svc/approver_role']
  return {
    ...(approvals !== undefined && { approvals_required: approvals }),
    ...(comprehension !== undefined && { comprehension_required: comprehension }),
    ...(timeout && { timeout: { after_minutes: timeout.after_minutes, default: timeout.default } }),
    ...(onReject && { on_reject: onReject }),
    ...(onModify && { on_modify: onModify }),
    ...(typeof role === 'string' && { approver_role: role }),
    ...(runtime['svc/separation_of_duties'] === true && { separation_of_duties: true }),
    ...(runtime['svc/bulk'] === true && { bulk: true }),
    ...standingOf(decision),
  }
}

/** The name under which an operator can end the authority of the policy. */
function standingOf({ runtime }: PolicyDecisionSpec): Pick<ApprovalObligations, 'standing'> {
  const standing = runtime?.['svc/standing']
  return typeof standing === 'string' && standing !== '' ? { standing } : {}
}

function oneOf<T extends string>(
  words: readonly T[],
  given: string | undefined,
  refuse: (list: string) => void,
): T | undefined {
  const found = words.find((word) => word === given)
  if (given !== undefined && !found) refuse(words.join(' or '))
  return found
}

function placeOf(document: Document): ResolvedPolicy['place'] {
  const pointer = '/spec/decision'
  const line = (document.keySpanOf(pointer) ?? document.spanOf(''))?.start.line
  return { path: document.path, pointer, ...(line !== undefined && { line }) }
}
