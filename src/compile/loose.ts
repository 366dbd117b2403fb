/** Policy documents without an agent, as one set for the calls they are asked about. Source: policies, section 7. */
import type { Diagnostic } from '../documents/text/diagnostic.ts'
import { asKind, type Document } from '../documents/text/document.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicySet } from '../spec/policy-set.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { findingsOf, openCompileState } from './compile.ts'
import { createEntries } from './stages/entries.ts'
import { addFor } from './stages/govern.ts'
import { nothingPublished } from './state/published.ts'
import { rulebookOf } from './stages/resolve.ts'
import { inlineSchema } from './stages/schema.ts'
import { hasErrors } from './state/state.ts'

/** A call that policies may concern. */
export interface PolicyTarget {
  readonly wire: string
  /** Logical id, which `scope` names. */
  readonly id: string
  readonly kind: 'tool' | 'agent'
  readonly sideEffectClass?: SideEffectClass
  /** Of the arguments; what an allow list checks is inferred from it. */
  readonly schema?: JsonSchema
}

/**
 * Every policy concerns every call that its scope allows, as guardrails do.
 * @param agent `namespace.name` that the set is written for
 * @returns no set where a document has errors, which are among the findings
 */
export function loosePolicies(
  workspace: Workspace,
  documents: readonly Document[],
  agent: string,
  concerns: readonly PolicyTarget[],
): { readonly set?: PolicySet; readonly findings: readonly Diagnostic[] } {
  const work = openCompileState({ workspace, root: '', published: nothingPublished })
  const rulebooks = documents.map((document) => ({ document, rulebook: rulebookOf(work, document) }))
  const entries = createEntries(agent)
  for (const concern of concerns) {
    entries.concern(concern.wire)
    for (const { document, rulebook } of rulebooks) {
      if (!rulebook) continue
      const at = { document, pointer: '/spec' }
      const id = addFor(
        work,
        entries,
        { rulebook, at },
        { ...concern, policies: [], toolDefaults: [], at },
        'guardrail',
        false,
      )
      if (id) entries.concern(concern.wire, id)
    }
  }
  const findings = findingsOf(work)
  return hasErrors(work) ? { findings } : { set: entries.seal(), findings }
}

/** What a Tool document says of a call. */
export interface LooseTool {
  readonly version: string
  readonly sideEffectClass?: SideEffectClass
  readonly labels: Readonly<Record<string, string>>
  readonly schema?: JsonSchema
}

/** The Tool document of a logical id; undefined where there is none, or none without errors. */
export function looseTool(workspace: Workspace, id: string): LooseTool | undefined {
  const document = workspace.documents.find(({ kind, identity }) => kind === 'Tool' && identity?.id === id)
  const tool = document && asKind(document, 'Tool')
  if (!tool) return undefined
  const { input_schema: input, side_effect_class: sideEffectClass } = tool.spec
  const work = openCompileState({ workspace, root: '', published: nothingPublished })
  const schema = input && inlineSchema(work, input, { document, pointer: '/spec/input_schema' })
  return {
    version: tool.metadata.version,
    ...(sideEffectClass && { sideEffectClass }),
    labels: tool.metadata.labels ?? {},
    ...(schema !== undefined && { schema }),
  }
}
