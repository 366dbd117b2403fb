/** Which policies apply to which calls of an agent. Source: docs/design/policies.md#which-policies-apply */
import type { Digest } from '../../base/digest.ts'
import { PROOF_NAMES } from '../../spec/people/decision-proof.ts'
import type { PolicyOrigin } from '../../spec/policy-set.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { inferredField, namedField } from '../../policy/allow-field.ts'
import { syntheticBoundary } from './boundaries.ts'
import { createEntries, type EntryContent } from './entries.ts'
import { governedCallees, type GovernedCallee } from './governed-callees.ts'
import {
  reportFinding,
  type AttachedPolicy,
  type BundleAgent,
  type ResolvedPolicy,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

export function attachPolicies(state: CompileState): void {
  for (const member of state.members) {
    const entries = createEntries(member.id)
    const callees = governedCallees(member)
    for (const callee of callees) {
      entries.addToIndex(callee.wire)
      const add = (attached: AttachedPolicy, kind: PolicyOrigin['kind']): void => {
        const id = addPolicyEntry(state, entries, attached, callee, kind)
        if (id) entries.addToIndex(callee.wire, id)
      }
      // The source says "applied to every tool binding", so delegations have only the policies of their edge and of boundaries.
      if (callee.kind === 'tool') for (const each of member.defaults) add(each, 'default')
      for (const each of callee.toolDefaults) add(each, 'tool_default')
      for (const each of callee.policies) add(each, 'binding')
      for (const resolvedPolicy of state.guardrailPolicies)
        if (canCheck(resolvedPolicy, callee)) add({ resolvedPolicy, at: callee.at }, 'guardrail')
    }
    for (const [boundary, pointer] of boundariesOf(member)) {
      const policies = state.boundaries.get(boundary) ?? []
      const at = { document: member.document, pointer }
      for (const resolvedPolicy of policies) addBoundary(state, entries, { resolvedPolicy, at }, boundary, callees)
      if (policies.length > 0) continue
      if (state.strict) reportUnresolvedBoundary(state, member, boundary, at)
      addSynthetic(entries, boundary, callees)
    }
    member.policySet = entries.seal()
  }
}

type Entries = ReturnType<typeof createEntries>

const boundariesOf = ({ agent }: BundleAgent): readonly (readonly [string, string])[] =>
  (agent.metadata.governance?.authority_boundaries ?? []).map((boundary, index) => [
    boundary,
    `/metadata/governance/authority_boundaries/${index}`,
  ])

const inScope = ({ scope }: ResolvedPolicy, { id }: GovernedCallee): boolean => scope === undefined || scope === id

const NAMED_FIELD = 'svc/allow_field'

/** An allow list that names no argument cannot check a delegation to which it is not attached. */
const canCheck = (resolvedPolicy: ResolvedPolicy, callee: GovernedCallee): boolean =>
  callee.kind === 'tool' ||
  resolvedPolicy.effect !== 'restrict' ||
  resolvedPolicy.scope !== undefined ||
  resolvedPolicy.policy.spec.decision?.runtime?.[NAMED_FIELD] !== undefined

/**
 * The entry of a policy for one callee; undefined if its scope is another tool or if it has an error. Only at a binding is another
 * scope a mistake: everywhere else a policy is offered to every call.
 */
export function addPolicyEntry(
  state: CompileState,
  entries: Entries,
  { resolvedPolicy, at }: AttachedPolicy,
  callee: GovernedCallee,
  kind: PolicyOrigin['kind'],
): Digest | undefined {
  if (!inScope(resolvedPolicy, callee)) {
    if (kind === 'binding')
      reportFinding(
        state,
        'policy/scope-mismatch',
        at,
        `${resolvedPolicy.id} is for ${resolvedPolicy.scope} and is attached to ${callee.id}, where it never applies.`,
      )
    return undefined
  }
  checkTimeout(state, resolvedPolicy, callee, at)
  const content = contentOf(state, resolvedPolicy, callee.schema, at)
  return content && entries.add(content, originOf(resolvedPolicy, kind))
}

function addBoundary(
  state: CompileState,
  entries: Entries,
  attached: AttachedPolicy,
  boundary: string,
  callees: readonly GovernedCallee[],
): void {
  const { resolvedPolicy, at } = attached
  const matching = callees.filter((callee) => inScope(resolvedPolicy, callee) && canCheck(resolvedPolicy, callee))
  const origin = { ...originOf(resolvedPolicy, 'boundary'), boundary }
  for (const callee of matching) {
    checkTimeout(state, resolvedPolicy, callee, at)
    const content = contentOf(state, resolvedPolicy, callee.schema, at)
    if (content) entries.addToIndex(callee.wire, entries.add(content, origin))
  }
  if (resolvedPolicy.effect === 'grant') return
  // An inherited list must check the same argument everywhere: named explicitly, or given by the one tool of its scope.
  const schema = resolvedPolicy.scope === undefined ? undefined : toolSchema(state, resolvedPolicy.scope)
  const fixed = resolvedPolicy.effect !== 'restrict' || fieldOf(resolvedPolicy, schema) !== undefined
  const content = fixed ? contentOf(state, resolvedPolicy, schema, at) : undefined
  if (content) entries.inherit(entries.add(content, origin))
}

const reportUnresolvedBoundary = (
  state: CompileState,
  { id }: BundleAgent,
  boundary: string,
  at: DocumentPlace,
): void =>
  reportFinding(
    state,
    'authority/unresolved',
    at,
    `No policy has authority_ref "${boundary}": every call above read_only of ${id} needs an approval instead.`,
    { fix: `Write a Policy document with decision.authority_ref: ${boundary}.` },
  )

/** Stands in for a boundary without a policy: asks for an approval of every call that is not read-only. */
function addSynthetic(entries: Entries, boundary: string, callees: readonly GovernedCallee[]): void {
  const id = entries.add(syntheticBoundary(boundary), { kind: 'synthetic', boundary })
  for (const callee of callees)
    if (callee.kind === 'tool' && callee.sideEffectClass !== 'read_only') entries.addToIndex(callee.wire, id)
  entries.inherit(id)
}

function toolSchema(state: CompileState, id: string): JsonSchema | undefined {
  const binding = state.members.flatMap(({ bindings }) => bindings).find(({ bound }) => bound?.id === id)
  return binding?.bound?.inputSchema
}

function fieldOf({ policy }: ResolvedPolicy, schema: JsonSchema | undefined): string | undefined {
  const named = policy.spec.decision?.runtime?.[NAMED_FIELD]
  return named === undefined ? inferredField(schema) : namedField(named)
}

function contentOf(
  state: CompileState,
  resolvedPolicy: ResolvedPolicy,
  schema: JsonSchema | undefined,
  at: DocumentPlace,
): EntryContent | undefined {
  const { id, version, policy, effect, when, obligations, scope } = resolvedPolicy
  const { decision } = policy.spec
  const message = decision?.runtime?.['svc/message']
  const field = effect === 'restrict' ? fieldOf(resolvedPolicy, schema) : undefined
  if (effect === 'restrict' && field === undefined)
    return reportFinding(
      state,
      'policy/allow-list-ambiguous',
      at,
      `It is unclear which argument the allow list of ${id} checks.`,
      {
        fix: `Name it: decision.runtime: {${NAMED_FIELD}: …}.`,
      },
    )
  return {
    policy: id,
    version,
    effect,
    ...(when && { when }),
    ...(field !== undefined && { allow: { field, values: [...new Set(policy.spec.allow ?? [])].sort() } }),
    obligations,
    ...(decision?.reason !== undefined && { reason: decision.reason }),
    ...(typeof message === 'string' && { message }),
    ...(decision?.authority_ref !== undefined && { authority_ref: decision.authority_ref }),
    ...(scope !== undefined && { scope }),
  }
}

const originOf = ({ id, version, published, place }: ResolvedPolicy, kind: PolicyOrigin['kind']): PolicyOrigin => ({
  kind,
  doc: `${id}@${version}`,
  digest: published.digest,
  ...place,
})

/** Why only a person may approve; undefined where a timeout may, too. */
function needForPerson({ obligations }: ResolvedPolicy, { id, sideEffectClass }: GovernedCallee): string | undefined {
  const {
    approvals_required: approvals = 1,
    comprehension_required: comprehension,
    approval_proof: proof,
  } = obligations
  if (sideEffectClass === 'irreversible_action') return `${id} is irreversible`
  if (approvals > 1) return `${approvals} approvals are required`
  if (comprehension) return 'comprehension is required'
  return proof !== undefined && proof !== 'none' ? `${PROOF_NAMES[proof]} is required` : undefined
}

/** A timeout is not a decision by a person, so it never approves what needs one. Source: docs/design/approvals.md#time-outs */
function checkTimeout(
  state: CompileState,
  resolvedPolicy: ResolvedPolicy,
  callee: GovernedCallee,
  at: DocumentPlace,
): void {
  if (resolvedPolicy.obligations.timeout?.default !== 'allow') return
  const why = needForPerson(resolvedPolicy, callee)
  if (why === undefined) return
  const place = resolvedPolicy.document
    ? { document: resolvedPolicy.document, pointer: '/spec/decision/timeout/default' }
    : at
  reportFinding(
    state,
    'approval/timeout-allow-irreversible',
    place,
    `${resolvedPolicy.id} would approve after a timeout, but ${why}.`,
    {
      fix: 'Write default: deny.',
    },
  )
}
