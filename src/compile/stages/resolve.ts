/**
 * Resolves the tools and policies of the closure: from the bundle first, then from the registry.
 * Source: docs/design/bundles-and-authority.md#references
 */
import {
  type BundleAgent,
  type CompileState,
  checkPinned,
  failUnchecked,
  idOfDocument,
  reportFinding,
  typedDocument,
  type DocumentPlace,
  type ResolvedTool,
  type ToolContract,
} from '../state/state.ts'
import { readGuardrail, resolveAttachments, resolvePolicyDocument } from './resolve-policy.ts'
import { maxSatisfying } from 'semver'
import type { Document } from '../../documents/text/document.ts'
import { readLogicalRef, type LogicalRef } from '../../documents/text/reference.ts'
import type { ToolBinding } from '../../spec/document.ts'
import type { JsonSchema, PublishedDocument } from '../../spec/snapshot.ts'
import { typedPublished } from '../state/published-document.ts'
import { builtinTool } from './builtin.ts'
import { bundleDocuments, chooseVersion, explainMissing, toPublished } from './choose-version.ts'
import { inlineSchema } from './schema.ts'

export async function resolveReferences(state: CompileState): Promise<void> {
  state.guardrailPolicies = state.guardrails.flatMap((path, index) => readGuardrail(state, path, index) ?? [])
  const { subject } = state
  if (subject?.kind === 'Tool') await contractOf(state, subject)
  if (subject?.kind === 'Policy') resolvePolicyDocument(state, subject)
  for (const member of state.members) await resolveMember(state, member)
}

async function resolveMember(state: CompileState, member: BundleAgent): Promise<void> {
  const { document, agent } = member
  member.defaults = await resolveAttachments(state, document, '/spec/default_policies', agent.spec.default_policies)
  for (const [index, binding] of (agent.spec.tools ?? []).entries()) {
    const at = { document, pointer: `/spec/tools/${index}` }
    const resolved = await resolveTool(state, binding, at)
    if (resolved)
      member.bindings.push({
        ...resolved,
        policies: await resolveAttachments(state, document, `${at.pointer}/policies`, binding.policies),
      })
  }
  for (const edge of member.edges)
    edge.policies = await resolveAttachments(state, document, `${edge.at.pointer}/policies`, edge.binding.policies)
}

async function resolveTool(
  state: CompileState,
  binding: ToolBinding,
  at: DocumentPlace,
): Promise<ResolvedTool | undefined> {
  const place = { document: at.document, pointer: `${at.pointer}/ref` }
  const ref = readLogicalRef(binding.ref)
  if (!ref) return failUnchecked('tool/ref-syntax', place)
  const builtin = builtinTool(ref)
  if (builtin) return { binding, at, ref, builtin, policies: [] }
  const before = state.findings.length
  const contract = await chooseTool(state, ref, at.document)
  if (contract) return { binding, at, ref, contract, policies: [] }
  // The document exists, and its errors are already reported.
  if (state.findings.length > before) return undefined
  if (binding.mcp) return { binding, at, ref, policies: [] }
  return reportFinding(state, 'tool/unresolved', place, await explainUnresolved(state, ref, at.document))
}

async function explainUnresolved(state: CompileState, ref: LogicalRef, from: Document): Promise<string> {
  const versions = [
    ...bundleDocuments(state, from, 'Tool', ref.id).map((each) => each.identity.version),
    ...(await state.published.tools(ref.id)).map((each) => each.version),
  ]
  if (versions.length > 0)
    return `No version of ${ref.id} satisfies ${ref.range ?? '*'}; there are ${versions.sort().join(', ')}.`
  return explainMissing(state, 'Tool', ref.id, from)
}

async function chooseTool(state: CompileState, ref: LogicalRef, from: Document): Promise<ToolContract | undefined> {
  const candidates = bundleDocuments(state, from, 'Tool', ref.id)
  const version = maxSatisfying(
    candidates.map((each) => each.identity.version),
    ref.range ?? '*',
  )
  const document = candidates.find((each) => each.identity.version === version)
  if (document) return contractOf(state, document)
  const published = chooseVersion(state, 'Tool', ref.id, await state.published.tools(ref.id), ref.range ?? '*')
  return published && publishedContract(state, published, from, ref)
}

/** The contract of a Tool document of this workspace, read once. */
async function contractOf(state: CompileState, document: Document): Promise<ToolContract | undefined> {
  const known = state.contracts.get(document)
  if (known) return known
  const tool = typedDocument(state, document, 'Tool')
  if (!tool) return undefined
  const schemaOf = (field: 'input_schema' | 'output_schema'): JsonSchema | undefined => {
    const spec = tool.spec[field]
    return spec && inlineSchema(state, spec, { document, pointer: `/spec/${field}` })
  }
  const [input, output] = [schemaOf('input_schema'), schemaOf('output_schema')]
  const version = state.version(tool.metadata.version)
  const whole = {
    ...tool,
    metadata: { ...tool.metadata, version },
    spec: {
      ...tool.spec,
      ...(input !== undefined && { input_schema: { inline: input } }),
      ...(output !== undefined && { output_schema: { inline: output } }),
    },
  }
  const contract: ToolContract = {
    published: toPublished('Tool', idOfDocument(document), version, whole),
    tool,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    document,
    policies: [],
  }
  state.contracts.set(document, contract)
  contract.policies.push(
    ...(await resolveAttachments(state, document, '/spec/default_policies', tool.spec.default_policies)),
  )
  return contract
}

async function publishedContract(
  state: CompileState,
  published: PublishedDocument,
  from: Document,
  ref: LogicalRef,
): Promise<ToolContract | undefined> {
  const key = `Tool ${published.id}@${published.version}`
  const known = state.contracts.get(key)
  if (known) return known
  const at = { document: from, pointer: '/spec/tools' }
  checkPinned(state, 'Tool', published, at)
  const tool = typedPublished(state, 'Tool', published, at)
  if (!tool) return undefined
  // Publishing put its schemas in by value.
  const [input, output] = [tool.spec.input_schema?.inline, tool.spec.output_schema?.inline]
  const contract: ToolContract = {
    published,
    tool,
    ...(input !== undefined && { input }),
    ...(output !== undefined && { output }),
    policies: [],
    ...(ref.range !== undefined && { requested: ref.range }),
  }
  state.contracts.set(key, contract)
  contract.policies.push(...(await resolveAttachments(state, from, '/spec/tools', tool.spec.default_policies)))
  return contract
}
