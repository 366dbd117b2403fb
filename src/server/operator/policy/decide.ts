/** Decides a recorded call again, with other arguments or edited policies, without any effect. Source: docs/design/console.md#routes */
import { fail } from '../../../base/failure.ts'
import type { JsonValue } from '../../../base/json/json.ts'
import { toJson } from '../../../base/json/typed-json.ts'
import { decidingPolicy } from '../../../policy/explain/deciding.ts'
import { explainDecision } from '../../../policy/explain/explain.ts'
import type { PolicySets } from '../../../policy/condition/decision.ts'
import { indexRecordedCalls, type RecordedCalls } from '../../../policy/replay/recorded-calls.ts'
import { recordedFacts, recordedPolicySets } from '../../../policy/replay/recorded-facts.ts'
import type { ExplainedDecision, WrittenPolicy } from '../../../spec/explanation.ts'
import type { RecordedDecision } from '../../../operations/decisions.ts'
import type { PolicyEntry } from '../../../spec/policy-set.ts'
import type { PublishedName } from '../../../store/version-rows.ts'
import type { ServerServices } from '../../runtime/services.ts'
import type { OperatorAction } from '../people/act.ts'
import { collectDecisions, snapshotsOf } from './decisions.ts'
import { compilerOf, readEdits } from './edits.ts'

export const decideAgain: OperatorAction<'POST /decide'> = async ({ services, body }) => {
  const { run, decision: id, arguments: args, base, edits = [] } = body
  const decisions = await collectDecisions(services, { run })
  const recorded = decisions.find(({ decisionId }) => decisionId === id)
  if (!recorded) throw fail('not_found', { what: 'recorded decision of this run' })
  const calls = indexRecordedCalls(decisions)
  const snapshots = snapshotsOf(services)
  const sets = await recordedPolicySets(recorded, snapshots)
  const before = explain(recorded, calls, sets)
  const written = await locateKept(services, recorded, askedEntries(sets, before))
  if (args === undefined && edits.length === 0) return { recorded, before, documents: written, findings: [] }
  const documents = await readEdits(services, { ...(base && { base }), edits })
  const compiler = compilerOf(services)
  const { findings, policiesOf } =
    edits.length > 0 ? await compiler.compile(documents) : { findings: [], policiesOf: undefined }
  if (edits.length > 0 && !policiesOf) return { recorded, before, documents: written, findings }
  const editedSets = policiesOf ? await recordedPolicySets(recorded, snapshots, policiesOf) : sets
  const after = explain(recorded, calls, editedSets, args)
  const editedDocuments = policiesOf ? await compiler.locate(askedEntries(editedSets, after), documents) : []
  return {
    recorded,
    before,
    after,
    documents: [...written, ...editedDocuments.filter(({ isEdited }) => isEdited)],
    findings,
  }
}

function explain(
  recorded: RecordedDecision,
  calls: RecordedCalls,
  sets: PolicySets,
  args?: JsonValue,
): ExplainedDecision {
  const { facts, assumed } = recordedFacts(recorded, calls, args)
  const { decision, policies, turns } = explainDecision(sets, recorded.tool, facts)
  const { policy, version } = decidingPolicy(decision, policies)
  return {
    decision: decision.decision,
    explanation: decision.explanation,
    by: { policy, version },
    policies,
    turns,
    obligations: toJson(decision.obligations ?? {}),
    assumed: [...assumed].sort(),
  }
}

/** The entries of the evaluated policies. */
function askedEntries({ own, ancestors }: PolicySets, { policies }: ExplainedDecision): readonly PolicyEntry[] {
  const asked = new Set(policies.map(({ policy, version }) => `${policy}@${version}`))
  return [own, ...ancestors]
    .flatMap(({ entries }) => entries)
    .filter(({ policy, version }) => asked.has(`${policy}@${version}`))
}

/** The documents of the policies, from the publication of the agent, of those above it, or from their own. */
async function locateKept(
  services: ServerServices,
  { agent, versionLabel, ancestors }: RecordedDecision,
  entries: readonly PolicyEntry[],
): Promise<readonly WrittenPolicy[]> {
  const { documents: compiler, store, workspace } = services
  if (!compiler) return []
  const publications: readonly PublishedName[] = [
    { kind: 'Agent', id: agent, version: versionLabel },
    ...ancestors.map((each) => ({ kind: 'Agent' as const, id: each.agent, version: each.versionLabel })),
    ...entries.map(({ policy, version }) => ({ kind: 'Policy' as const, id: policy, version })),
  ]
  const found = new Map<string, WrittenPolicy>()
  for (const publication of publications) {
    const missing = entries.filter(({ policy, version }) => !found.has(`${policy}@${version}`))
    if (missing.length === 0) break
    const kept = await store.sources(workspace.id, publication)
    if (!kept) continue
    for (const each of await compiler.locate(missing, { files: kept.files, edited: [] })) found.set(each.policy, each)
  }
  return [...found.values()]
}
