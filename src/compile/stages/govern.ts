/** Which policies concern which calls of an agent. Source: policies, sections 3, 4 and 6. */
import type { Digest } from '../../base/digest.ts'
import { delegationSchema } from '../../spec/delegation.ts'
import type { SideEffectClass } from '../../spec/document.ts'
import type { PolicyOrigin } from '../../spec/policy-set.ts'
import type { JsonSchema } from '../../spec/snapshot.ts'
import { inferredField, namedField } from '../../policy/allow-field.ts'
import { syntheticBoundary } from './boundaries.ts'
import { createEntries, type EntryContent } from './entries.ts'
import {
  reportFinding,
  type AttachedPolicy,
  type BundleAgent,
  type ResolvedPolicy,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

/** Something that is called: a bound tool or a sub-agent. */
export interface GovernedCallee {
  readonly wire: string
  /** Logical id, which `scope` names. */
  readonly id: string
  readonly kind: 'tool' | 'agent'
  readonly sideEffectClass?: SideEffectClass
  readonly schema?: JsonSchema
  /** Attached to this very binding. */
  readonly policies: readonly AttachedPolicy[]
  readonly toolDefaults: readonly AttachedPolicy[]
  readonly at: DocumentPlace
}

export function attachPolicies(work: CompileState): void {
  for (const member of work.members) {
    const entries = createEntries(member.id)
    const callees = calleesOf(member)
    for (const callee of callees) {
      entries.concern(callee.wire)
      const add = (attached: AttachedPolicy, kind: PolicyOrigin['kind'], strictScope = false): void => {
        const id = addFor(work, entries, attached, callee, kind, strictScope)
        if (id) entries.concern(callee.wire, id)
      }
      // "Applied to every tool binding": the source's words, which leave delegation to the edge's own policies and to boundaries.
      if (callee.kind === 'tool') for (const each of member.defaults) add(each, 'default')
      for (const each of callee.toolDefaults) add(each, 'tool_default')
      for (const each of callee.policies) add(each, 'binding', true)
      for (const rulebook of work.guards) if (concerns(rulebook, callee)) add({ rulebook, at: callee.at }, 'guardrail')
    }
    for (const [boundary, pointer] of boundariesOf(member)) {
      const policies = work.boundaries.get(boundary) ?? []
      const at = { document: member.document, pointer }
      for (const rulebook of policies) addBoundary(work, entries, { rulebook, at }, boundary, callees)
      if (policies.length === 0) addSynthetic(work, entries, boundary, at, callees, member)
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

function calleesOf(member: BundleAgent): readonly GovernedCallee[] {
  const tools = member.bindings.flatMap(({ bound, policies, contract, at }): GovernedCallee[] =>
    bound
      ? [
          {
            wire: bound.wire,
            id: bound.id,
            kind: 'tool',
            ...(bound.sideEffectClass && { sideEffectClass: bound.sideEffectClass }),
            ...(bound.inputSchema !== undefined && { schema: bound.inputSchema }),
            policies,
            toolDefaults: contract?.policies ?? [],
            at,
          },
        ]
      : [],
  )
  const agents = member.edges.flatMap(({ bound, policies, target, at }): GovernedCallee[] => {
    if (!bound) return []
    const contract =
      target.at === 'local'
        ? target.member.contract
        : target.at === 'published'
          ? target.snapshot.inputContract
          : undefined
    return [
      {
        wire: bound.wire,
        id: bound.id,
        kind: 'agent',
        schema: delegationSchema(bound.inputSchema, contract),
        policies,
        toolDefaults: [],
        at,
      },
    ]
  })
  return [...tools, ...agents]
}

const inScope = ({ scope }: ResolvedPolicy, { id }: GovernedCallee): boolean => scope === undefined || scope === id

const NAMED_FIELD = 'svc/allow_field'

/** A list that names no argument has none to check in a delegation that it was not attached to. */
const concerns = (rulebook: ResolvedPolicy, callee: GovernedCallee): boolean =>
  callee.kind === 'tool' ||
  rulebook.effect !== 'restrict' ||
  rulebook.scope !== undefined ||
  rulebook.policy.spec.decision?.runtime?.[NAMED_FIELD] !== undefined

/** The entry of a policy for one callee; undefined where its scope is another tool or something is wrong. */
export function addFor(
  work: CompileState,
  entries: Entries,
  { rulebook, at }: AttachedPolicy,
  callee: GovernedCallee,
  kind: PolicyOrigin['kind'],
  strictScope: boolean,
): Digest | undefined {
  if (!inScope(rulebook, callee)) {
    if (strictScope)
      reportFinding(
        work,
        'policy/scope-mismatch',
        at,
        `${rulebook.id} is for ${rulebook.scope} and is attached to ${callee.id}, where it never applies.`,
      )
    return undefined
  }
  checkTimeout(work, rulebook, callee, at)
  const content = contentOf(work, rulebook, callee.schema, at)
  return content && entries.add(content, originOf(rulebook, kind))
}

function addBoundary(
  work: CompileState,
  entries: Entries,
  attached: AttachedPolicy,
  boundary: string,
  callees: readonly GovernedCallee[],
): void {
  const { rulebook, at } = attached
  const concerned = callees.filter((callee) => inScope(rulebook, callee) && concerns(rulebook, callee))
  const origin = { ...originOf(rulebook, 'boundary'), boundary }
  for (const callee of concerned) {
    checkTimeout(work, rulebook, callee, at)
    const content = contentOf(work, rulebook, callee.schema, at)
    if (content) entries.concern(callee.wire, entries.add(content, origin))
  }
  if (rulebook.effect === 'grant') return
  // What a list checks must be the same wherever it is inherited: named outright, or of the one tool it is for.
  const schema = rulebook.scope === undefined ? undefined : toolSchema(work, rulebook.scope)
  const fixed = rulebook.effect !== 'restrict' || fieldOf(rulebook, schema) !== undefined
  const content = fixed ? contentOf(work, rulebook, schema, at) : undefined
  if (content) entries.inherit(entries.add(content, origin))
}

function addSynthetic(
  work: CompileState,
  entries: Entries,
  boundary: string,
  at: DocumentPlace,
  callees: readonly GovernedCallee[],
  member: BundleAgent,
): void {
  reportFinding(
    work,
    'authority/unresolved',
    at,
    `No policy has authority_ref "${boundary}": every call above read_only of ${member.id} needs an approval instead.`,
    {
      severity: work.strict ? 'error' : 'warning',
      fix: `Write a Policy document with decision.authority_ref: ${boundary}.`,
    },
  )
  const id = entries.add(syntheticBoundary(boundary), { kind: 'synthetic', boundary })
  for (const callee of callees)
    if (callee.kind === 'tool' && callee.sideEffectClass !== 'read_only') entries.concern(callee.wire, id)
  entries.inherit(id)
}

function toolSchema(work: CompileState, id: string): JsonSchema | undefined {
  const binding = work.members.flatMap(({ bindings }) => bindings).find(({ bound }) => bound?.id === id)
  return binding?.bound?.inputSchema
}

function fieldOf({ policy }: ResolvedPolicy, schema: JsonSchema | undefined): string | undefined {
  const named = policy.spec.decision?.runtime?.[NAMED_FIELD]
  return named === undefined ? inferredField(schema) : namedField(named)
}

function contentOf(
  work: CompileState,
  rulebook: ResolvedPolicy,
  schema: JsonSchema | undefined,
  at: DocumentPlace,
): EntryContent | undefined {
  const { id, version, policy, effect, when, obligations, scope } = rulebook
  const decision = policy.spec.decision!
  const message = decision.runtime?.['svc/message']
  const field = effect === 'restrict' ? fieldOf(rulebook, schema) : undefined
  if (effect === 'restrict' && field === undefined)
    return reportFinding(
      work,
      'policy/allow-list-ambiguous',
      at,
      `It cannot be told which argument the allow list of ${id} is about.`,
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
    ...(decision.reason !== undefined && { reason: decision.reason }),
    ...(typeof message === 'string' && { message }),
    ...(decision.authority_ref !== undefined && { authority_ref: decision.authority_ref }),
    ...(scope !== undefined && { scope }),
  }
}

const originOf = ({ id, version, published, place }: ResolvedPolicy, kind: PolicyOrigin['kind']): PolicyOrigin => ({
  kind,
  doc: `${id}@${version}`,
  digest: published.digest,
  ...place,
})

/** A time-out is nobody's word: it never approves what must not happen by itself. Source: policies, section 5. */
function checkTimeout(work: CompileState, rulebook: ResolvedPolicy, callee: GovernedCallee, at: DocumentPlace): void {
  const { timeout, approvals_required: approvals = 1, comprehension_required: comprehension } = rulebook.obligations
  if (timeout?.default !== 'allow') return
  const why =
    callee.sideEffectClass === 'irreversible_action'
      ? `${callee.id} is irreversible`
      : approvals > 1
        ? `${approvals} approvals are required`
        : comprehension
          ? 'comprehension is required'
          : undefined
  if (why === undefined) return
  const place = rulebook.document ? { document: rulebook.document, pointer: '/spec/decision/timeout/default' } : at
  reportFinding(
    work,
    'approval/timeout-allow-irreversible',
    place,
    `${rulebook.id} would approve by time-out, but ${why}.`,
    {
      fix: 'Write default: deny.',
    },
  )
}
