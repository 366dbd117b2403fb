/** Compiles Policy documents without an agent into one set, for given calls. Source: docs/design/policies.md#replay */
import type { Diagnostic } from '../documents/text/diagnostic.ts'
import { asKind, type Document } from '../documents/text/document.ts'
import type { Workspace } from '../documents/workspace/workspace.ts'
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicySet } from '../spec/policy-set.ts'
import type { JsonSchema } from '../spec/snapshot.ts'
import { findingsOf, openCompileState } from './compile.ts'
import { createEntries } from './stages/entries.ts'
import { addPolicyEntry } from './stages/govern.ts'
import { nothingPublished } from './state/published.ts'
import { resolvePolicyDocument } from './stages/resolve-policy.ts'
import { inlineSchema } from './stages/schema.ts'
import { hasErrors } from './state/state.ts'

/** A call to which policies may apply. */
export interface PolicyTarget {
  readonly wire: string
  /** Logical id, which `scope` names. */
  readonly id: string
  readonly kind: 'tool' | 'agent'
  readonly sideEffectClass?: SideEffectClass
  /** Schema of the arguments; an allow list without a named argument infers it from here. */
  readonly schema?: JsonSchema
}

/**
 * Every policy applies to every call in its scope, like a guardrail.
 * @param agent `namespace.name` for which the set is compiled
 * @returns no set if a document has errors, which are among the findings
 */
export function compileUnattachedPolicies(
  workspace: Workspace,
  documents: readonly Document[],
  agent: string,
  targets: readonly PolicyTarget[],
): { readonly set?: PolicySet; readonly findings: readonly Diagnostic[] } {
  const state = openCompileState({ workspace, root: '', published: nothingPublished })
  const resolvedPolicies = documents.map((document) => ({
    document,
    resolvedPolicy: resolvePolicyDocument(state, document),
  }))
  const entries = createEntries(agent)
  for (const target of targets) {
    entries.addToIndex(target.wire)
    for (const { document, resolvedPolicy } of resolvedPolicies) {
      if (!resolvedPolicy) continue
      const at = { document, pointer: '/spec' }
      const id = addPolicyEntry(
        state,
        entries,
        { resolvedPolicy, at },
        { ...target, policies: [], toolDefaults: [], at },
        'guardrail',
      )
      if (id) entries.addToIndex(target.wire, id)
    }
  }
  const findings = findingsOf(state)
  return hasErrors(state) ? { findings } : { set: entries.seal(), findings }
}

/** The facts of a Tool document that policies read. */
export interface UnattachedTool {
  readonly version: string
  readonly sideEffectClass?: SideEffectClass
  readonly labels: Readonly<Record<string, string>>
  readonly schema?: JsonSchema
}

/** The Tool document of a logical id; undefined if there is none without errors. */
export function readUnattachedTool(workspace: Workspace, id: string): UnattachedTool | undefined {
  const document = workspace.documents.find(({ kind, identity }) => kind === 'Tool' && identity?.id === id)
  const tool = document && asKind(document, 'Tool')
  if (!tool) return undefined
  const { input_schema: input, side_effect_class: sideEffectClass } = tool.spec
  const state = openCompileState({ workspace, root: '', published: nothingPublished })
  const schema = input && inlineSchema(state, input, { document, pointer: '/spec/input_schema' })
  return {
    version: tool.metadata.version,
    ...(sideEffectClass && { sideEffectClass }),
    labels: tool.metadata.labels ?? {},
    ...(schema !== undefined && { schema }),
  }
}
