/**
 * What changed about a Tool or Policy document that is published on its own.
 * Source: docs/design/bundles-and-authority.md#what-a-change-requires
 */
import { canonicalJson } from '../../base/json/json.ts'
import { fromJson } from '../../base/json/typed-json.ts'
import { sealSet } from '../../policy/policy-set.ts'
import type { PolicyDocument, SideEffectClass, ToolDocument } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import {
  hasUntrustedContent,
  type JsonSchema,
  type PublishedDocument,
  type AgentSnapshot,
} from '../../spec/snapshot.ts'
import { standalonePolicyEntry } from '../stages/policy-entry.ts'
import { compareAccepted, compareAuthority } from '../../authority/authority.ts'
import type { ComparedVersion } from '../../authority/callee.ts'
import { classChange, taintChange } from '../../authority/binding.ts'
import { inputChanges, outputChanges } from '../../authority/contract.ts'
import { versionChange, differenceOf, type VersionChange, type VersionDifference } from '../../authority/change.ts'
import { undoChanges } from '../../authority/undo.ts'
import { describePolicyEntry, describePolicyChange, describeWitness } from '../../authority/words.ts'

/** Both documents have the same kind and id. Publishing checked their shape and inlined their schemas. */
export const diffDocuments = (before: PublishedDocument, after: PublishedDocument): VersionDifference =>
  differenceOf(
    after.kind === 'Tool'
      ? toolChanges(after.id, fromJson<ToolDocument>(before.document), fromJson<ToolDocument>(after.document))
      : policyChanges(after.id, fromJson<PolicyDocument>(before.document), fromJson<PolicyDocument>(after.document)),
  )

function toolChanges(
  id: string,
  { spec: was, metadata: old }: ToolDocument,
  { spec: is, metadata: now }: ToolDocument,
): readonly VersionChange[] {
  const place = { agent: id, tool: id }
  const changes: VersionChange[] = [
    ...inputChanges(place, was.input_schema?.inline ?? true, is.input_schema?.inline ?? true),
    ...outputChanges(place, was.output_schema?.inline ?? true, is.output_schema?.inline ?? true),
    ...classChange(place, was.side_effect_class, is.side_effect_class),
    ...acceptedChanges(place, was, is),
    ...taintChange(place, hasUntrustedContent(old.labels), hasUntrustedContent(now.labels)),
    ...undoChanges(place, old.labels, now.labels),
    ...(was.default_policies ?? [])
      .filter((policy) => !is.default_policies?.includes(policy))
      .map((policy) =>
        versionChange('default_policy.removed', {
          ...place,
          from: policy,
          say: `${id}: default policy ${policy} removed`,
        }),
      ),
    ...(is.default_policies ?? [])
      .filter((policy) => !was.default_policies?.includes(policy))
      .map((policy) =>
        versionChange('authority.narrowed', { ...place, to: policy, say: `${id}: default policy ${policy} added` }),
      ),
  ]
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...place, say: `${id}: description` }))
  if (canonicalJson(old.labels ?? {}) !== canonicalJson(now.labels ?? {}))
    changes.push(versionChange('metadata.changed', { ...place, say: `${id}: labels` }))
  return changes
}

/**
 * Calls that only the later input schema accepts. The gates depend on the agents that bind the tool, so only the class of
 * the tool counts here.
 */
function acceptedChanges(
  place: { readonly agent: string; readonly tool: string },
  was: ToolDocument['spec'],
  is: ToolDocument['spec'],
): readonly VersionChange[] {
  const [before, after] = [was, is].map(({ input_schema: schema, side_effect_class: sideEffects }) =>
    versionOf(place.tool, sideEffects, schema?.inline === undefined ? [] : [schema.inline]),
  ) as [ComparedVersion, ComparedVersion]
  const { verdict, witness } = compareAccepted(before, after)
  if (verdict === 'equal') return []
  const isKnown = witness !== undefined && (is.default_policies ?? []).length === 0
  return [
    versionChange('authority.widened', {
      ...place,
      verdict: isKnown ? verdict : 'not_proven',
      ...(isKnown && { witness }),
      say: `${place.tool}: accepts calls that no policy of its own stops${isKnown ? `; ${describeWitness(witness)}` : ', as far as is known'}`,
    }),
  ]
}

function policyChanges(id: string, before: PolicyDocument, after: PolicyDocument): readonly VersionChange[] {
  const [was, is] = [before, after].map((policy) => standalonePolicyEntry(id, policy)) as [
    PolicyEntry | undefined,
    PolicyEntry | undefined,
  ]
  const [from, to] = [was, is].map((entry) => (entry ? describePolicyEntry(entry) : null)) as [
    string | null,
    string | null,
  ]
  const place = { agent: id, from, to }
  // A narrower scope removes a gate from other tools.
  if (!was || !is || (was.scope !== is.scope && is.scope !== undefined))
    return [
      versionChange('authority.widened', { ...place, verdict: 'not_proven', say: `${id}: not proven to be as strict` }),
    ]
  // An irreversible action, because a grant has an effect only there.
  const results = [undefined, 'irreversible_action' as const].map((effects) =>
    compareAuthority(standalonePolicyVersion(was, effects), standalonePolicyVersion(is, effects)),
  )
  const found = ['loosened', 'not_proven', 'tightened'].flatMap(
    (verdict) => results.find((each) => each.verdict === verdict) ?? [],
  )[0]
  if (!found)
    return was.id === is.id
      ? []
      : [versionChange('authority.equal', { ...place, verdict: 'equal', say: `${id}: as strict as before` })]
  const { verdict, witness } = found
  const what = describePolicyChange(describePolicyEntry(was), describePolicyEntry(is))
  if (verdict === 'tightened')
    return [versionChange('authority.narrowed', { ...place, verdict, say: `${what}, stricter` })]
  const how = witness ? `looser; ${describeWitness(witness)}` : 'not proven to be as strict'
  return [
    versionChange('authority.widened', {
      ...place,
      verdict,
      ...(witness && { witness }),
      say: `${what}, ${how}`,
    }),
  ]
}

/** A call of some tool to which only this policy applies. */
const standalonePolicyVersion = (
  entry: PolicyEntry,
  sideEffectClass: 'irreversible_action' | undefined,
): ComparedVersion => versionOf(entry.scope ?? 'any.tool', sideEffectClass, [], [entry])

/** A tool that some agent binds, with these policies. */
function versionOf(
  id: string,
  sideEffectClass: SideEffectClass | undefined,
  schemas: readonly JsonSchema[],
  entries: readonly PolicyEntry[] = [],
): ComparedVersion {
  const set = sealSet({
    v: 1,
    compiler: '1',
    agent: 'any.agent',
    entries,
    index: { call: entries.map((entry) => entry.id) },
    inherited: [],
  })
  return {
    callee: {
      // Comparisons of agent or tool are treated as questions of their own.
      agent: {
        id: 'any.agent',
        version: '',
        classifications: [],
        labels: {},
        policies: set,
      } as unknown as AgentSnapshot,
      kind: 'tool',
      wire: 'call',
      id,
      ...(sideEffectClass && { sideEffectClass }),
      schemas,
      facts: { id, version: '', wire_name: 'call', kind: 'tool', labels: {} },
      late: false,
      anyone: true,
    },
    sets: { own: set, ancestors: [] },
  }
}
