/** What changed about a Tool or Policy document that is published on its own. Source: bundles, section 5. */
import { canonicalJson } from '../../base/json.ts'
import { sealSet } from '../../policy/policy-set.ts'
import type { PolicyDocument, SideEffectClass, ToolDocument } from '../../spec/document.ts'
import type { PolicyEntry } from '../../spec/policy-set.ts'
import {
  hasUntrustedContent,
  type JsonSchema,
  type PublishedDocument,
  type AgentSnapshot,
} from '../../spec/snapshot.ts'
import { entryOf } from '../stages/policy-entry.ts'
import { compareAccepted, compareAuthority, type ComparedVersion } from './authority.ts'
import { classChange, inputChanges, outputChanges, taintChange } from './calls.ts'
import { versionChange, differenceOf, type VersionChange, type VersionDifference } from './change.ts'
import { sayEntry, sayTransition, sayWitness } from './words.ts'

/** Both are of the same kind and id. Publishing has checked their shape and put schemas in by value. */
export const diffDocuments = (before: PublishedDocument, after: PublishedDocument): VersionDifference =>
  differenceOf(
    after.kind === 'Tool'
      ? toolChanges(after.id, before.document as unknown as ToolDocument, after.document as unknown as ToolDocument)
      : policyChanges(
          after.id,
          before.document as unknown as PolicyDocument,
          after.document as unknown as PolicyDocument,
        ),
  )

function toolChanges(
  id: string,
  { spec: was, metadata: old }: ToolDocument,
  { spec: is, metadata: now }: ToolDocument,
): readonly VersionChange[] {
  const told = { agent: id, tool: id }
  const changes: VersionChange[] = [
    ...inputChanges(told, was.input_schema?.inline ?? true, is.input_schema?.inline ?? true),
    ...outputChanges(told, was.output_schema?.inline ?? true, is.output_schema?.inline ?? true),
    ...classChange(told, was.side_effect_class, is.side_effect_class),
    ...acceptedChanges(told, was, is),
    ...taintChange(told, hasUntrustedContent(old.labels), hasUntrustedContent(now.labels)),
    ...(was.default_policies ?? [])
      .filter((policy) => !is.default_policies?.includes(policy))
      .map((policy) =>
        versionChange('default_policy.removed', {
          ...told,
          from: policy,
          say: `${id}: default policy ${policy} removed`,
        }),
      ),
    ...(is.default_policies ?? [])
      .filter((policy) => !was.default_policies?.includes(policy))
      .map((policy) =>
        versionChange('authority.narrowed', { ...told, to: policy, say: `${id}: default policy ${policy} added` }),
      ),
  ]
  if (was.description !== is.description)
    changes.push(versionChange('description.changed', { ...told, say: `${id}: description` }))
  if (canonicalJson(old.labels ?? {}) !== canonicalJson(now.labels ?? {}))
    changes.push(versionChange('metadata.changed', { ...told, say: `${id}: labels` }))
  return changes
}

/**
 * Calls that only the later input schema accepts. Which gates stand before them is known of each agent that binds the tool: of
 * the tool alone, its class only.
 */
function acceptedChanges(
  told: { readonly agent: string; readonly tool: string },
  was: ToolDocument['spec'],
  is: ToolDocument['spec'],
): readonly VersionChange[] {
  const [before, after] = [was, is].map(({ input_schema: schema, side_effect_class: sideEffects }) =>
    versionOf(told.tool, sideEffects, schema?.inline === undefined ? [] : [schema.inline]),
  ) as [ComparedVersion, ComparedVersion]
  const { verdict, witness } = compareAccepted(before, after)
  if (verdict === 'equal') return []
  const isKnown = witness !== undefined && (is.default_policies ?? []).length === 0
  return [
    versionChange('authority.widened', {
      ...told,
      verdict: isKnown ? verdict : 'not_proven',
      ...(isKnown && { witness }),
      say: `${told.tool}: accepts calls that no policy of its own stops${isKnown ? `; ${sayWitness(witness)}` : ', as far as is known'}`,
    }),
  ]
}

function policyChanges(id: string, before: PolicyDocument, after: PolicyDocument): readonly VersionChange[] {
  const [was, is] = [before, after].map((policy) => entryOf(id, policy)) as [
    PolicyEntry | undefined,
    PolicyEntry | undefined,
  ]
  const [from, to] = [was, is].map((entry) => (entry ? sayEntry(entry) : null)) as [string | null, string | null]
  const told = { agent: id, from, to }
  // A narrower scope takes a gate away from other tools.
  if (!was || !is || (was.scope !== is.scope && is.scope !== undefined))
    return [
      versionChange('authority.widened', { ...told, verdict: 'not_proven', say: `${id}: not proven to be as strict` }),
    ]
  // An irreversible action, since only there a grant does anything.
  const results = [undefined, 'irreversible_action' as const].map((effects) =>
    compareAuthority(alone(was, effects), alone(is, effects)),
  )
  const found = ['loosened', 'not_proven', 'tightened'].flatMap(
    (verdict) => results.find((each) => each.verdict === verdict) ?? [],
  )[0]
  if (!found)
    return was.id === is.id
      ? []
      : [versionChange('authority.equal', { ...told, verdict: 'equal', say: `${id}: as strict as before` })]
  const { verdict, witness } = found
  if (verdict === 'tightened')
    return [versionChange('authority.narrowed', { ...told, verdict, say: `${sayTransition(from!, to!)}, stricter` })]
  const how = witness ? `looser; ${sayWitness(witness)}` : 'not proven to be as strict'
  return [
    versionChange('authority.widened', {
      ...told,
      verdict,
      ...(witness && { witness }),
      say: `${sayTransition(from!, to!)}, ${how}`,
    }),
  ]
}

/** A call of some tool that only this policy is about. */
const alone = (entry: PolicyEntry, sideEffectClass: 'irreversible_action' | undefined): ComparedVersion =>
  versionOf(entry.scope ?? 'any.tool', sideEffectClass, [], [entry])

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
      // What asks for the agent or the tool is a question of its own.
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
