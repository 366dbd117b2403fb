/** Resolves the tools and policies of the closure: from the bundle first, then from the registry. Source: bundles, section 1. */
import { maxSatisfying, rcompare } from 'semver'
import type { JsonObject } from '../../base/json.ts'
import { asKind, type Document } from '../../documents/text/document.ts'
import { checkPath } from '../../documents/text/paths.ts'
import { isRange, readLogicalRef, type LogicalRef } from '../../documents/text/reference.ts'
import { didYouMean } from '../../documents/text/suggest.ts'
import type { PolicyAttachment, PolicyDocument, ToolBinding, ToolDocument } from '../../spec/document.ts'
import { digestOfDocument, type JsonSchema, type PublishedDocument } from '../../spec/snapshot.ts'
import { builtinTool } from './builtin.ts'
import { explainUnresolvedPath } from '../state/unresolved-path.ts'
import { readPolicyDocument } from './read-policy.ts'
import { inlineSchema } from './schema.ts'
import {
  checkPinned,
  idOfDocument,
  reportFinding,
  typedDocument,
  type AttachedPolicy,
  type ResolvedTool,
  type ToolContract,
  type BundleAgent,
  type ResolvedPolicy,
  type DocumentPlace,
  type CompileState,
} from '../state/state.ts'

/** The project file; a guardrail that names no policy is reported there. */
const CONFIG = 'svc.config.yaml'

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
  if (!ref)
    return reportFinding(
      state,
      'tool/ref-syntax',
      place,
      `"${binding.ref}" is not namespace.name, with or without @range.`,
    )
  if (ref.range !== undefined && !isRange(ref.range))
    return reportFinding(state, 'tool/range-invalid', place, `"${ref.range}" is not a semver range.`)
  const builtin = builtinTool(ref)
  if (builtin) return { binding, at, ref, builtin, policies: [] }
  const before = state.findings.length
  const contract = await chooseTool(state, ref, at.document)
  if (contract) return { binding, at, ref, contract, policies: [] }
  // The document exists, and its errors are already reported.
  if (state.findings.length > before) return undefined
  if (binding.mcp) return { binding, at, ref, policies: [] }
  return reportFinding(state, 'tool/unresolved', place, await whyUnresolved(state, ref, at.document))
}

async function whyUnresolved(state: CompileState, ref: LogicalRef, from: Document): Promise<string> {
  const versions = [
    ...bundleDocuments(state, from, 'Tool', ref.id).map((each) => each.identity!.version),
    ...(await state.published.tools(ref.id)).map((each) => each.version),
  ]
  if (versions.length > 0)
    return `No version of ${ref.id} satisfies ${ref.range ?? '*'}; there are ${versions.sort().join(', ')}.`
  const ids = state.workspace
    .publishedTogether(from)
    .flatMap((each) => (each.kind === 'Tool' ? idOfDocument(each) : []))
  return `There is no Tool document ${ref.id}, neither in the bundle nor published.${didYouMean(ref.id, ids)}`
}

async function chooseTool(state: CompileState, ref: LogicalRef, from: Document): Promise<ToolContract | undefined> {
  const candidates = bundleDocuments(state, from, 'Tool', ref.id)
  const version = maxSatisfying(
    candidates.map((each) => each.identity!.version),
    ref.range ?? '*',
  )
  const document = candidates.find((each) => each.identity!.version === version)
  if (document) return contractOf(state, document)
  const published = chooseVersion(state, 'Tool', ref.id, await state.published.tools(ref.id), ref.range ?? '*')
  return published && publishedContract(state, published, from, ref)
}

/** Documents of the same bundle. */
const bundleDocuments = (
  state: CompileState,
  from: Document,
  kind: 'Tool' | 'Policy',
  id: string,
): readonly Document[] =>
  state.workspace.publishedTogether(from).filter((each) => each.kind === kind && each.identity?.id === id)

/**
 * The version chosen by the lock while it satisfies the range, else the highest. A yanked version is used only if it is
 * pinned or named exactly.
 */
function chooseVersion(
  state: CompileState,
  kind: 'Tool' | 'Policy',
  id: string,
  all: readonly PublishedDocument[],
  range: string,
): PublishedDocument | undefined {
  const pinned = state.pins.get(`${kind} ${id}`) ?? []
  const versions = all
    .filter(({ version, yanked }) => yanked !== true || pinned.includes(version) || version === range)
    .map((each) => each.version)
  const version =
    maxSatisfying(
      versions.filter((each) => pinned.includes(each)),
      range,
    ) ?? maxSatisfying(versions, range)
  const found = all.find((each) => each.version === version)
  if (!found) return undefined
  const { yanked: _, ...chosen } = found
  return chosen
}

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
): Promise<ToolContract> {
  const key = `Tool ${published.id}@${published.version}`
  const known = state.contracts.get(key)
  if (known) return known
  checkPinned(state, 'Tool', published, { document: from, pointer: '/spec/tools' })
  // Publishing checked its shape and inlined its schemas.
  const tool = published.document as unknown as ToolDocument
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

/** The policies of one list. A policy that is missing or invalid is reported where it is attached. */
async function resolveAttachments(
  state: CompileState,
  document: Document,
  pointer: string,
  list: readonly PolicyAttachment[] | undefined,
): Promise<AttachedPolicy[]> {
  const attached: AttachedPolicy[] = []
  for (const [index, attachment] of (list ?? []).entries()) {
    const here = { document, pointer: `${pointer}/${index}` }
    const at = document.spanOf(here.pointer) ? here : { document, pointer }
    const resolvedPolicy =
      typeof attachment === 'string' ? await policyById(state, attachment, at) : policyByPath(state, attachment.ref, at)
    if (resolvedPolicy) attached.push({ resolvedPolicy, at })
  }
  return attached
}

async function policyById(state: CompileState, id: string, at: DocumentPlace): Promise<ResolvedPolicy | undefined> {
  const [newest] = [...bundleDocuments(state, at.document, 'Policy', id)].sort((a, b) =>
    rcompare(a.identity!.version, b.identity!.version),
  )
  if (newest) return resolvePolicyDocument(state, newest)
  const published = chooseVersion(state, 'Policy', id, await state.published.policies(id), '*')
  if (published) return resolvePublishedPolicy(state, published, at)
  const ids = state.workspace
    .publishedTogether(at.document)
    .flatMap((each) => (each.kind === 'Policy' ? idOfDocument(each) : []))
  return reportFinding(
    state,
    'policy/attachment-missing',
    at,
    `There is no Policy document ${id}, neither in the bundle nor published.${didYouMean(id, ids)}`,
  )
}

function policyByPath(state: CompileState, ref: string, at: DocumentPlace): ResolvedPolicy | undefined {
  const resolution = state.workspace.resolve(at.document, ref)
  if (!('path' in resolution))
    return reportFinding(state, 'policy/attachment-missing', at, explainUnresolvedPath(ref, resolution))
  const [policy, ...others] = state.workspace.documentsAt(resolution.path).filter((each) => each.kind === 'Policy')
  if (policy && others.length === 0) return resolvePolicyDocument(state, policy)
  return reportFinding(
    state,
    'policy/attachment-missing',
    at,
    `${resolution.path} holds ${policy ? 'more than one Policy document; name it by its id' : 'no Policy document'}.`,
  )
}

function readGuardrail(state: CompileState, written: string, index: number): ResolvedPolicy[] | undefined {
  const checked = checkPath(written)
  const policies =
    'path' in checked ? state.workspace.documentsAt(checked.path).filter((each) => each.kind === 'Policy') : []
  const start = { line: 1, column: 1, offset: 0 }
  const place = { path: CONFIG, pointer: `/guardrails/${index}`, range: { start, end: start } }
  if (policies.length === 0)
    return reportFinding(
      state,
      'policy/attachment-missing',
      place,
      `guardrails names "${written}", which holds no Policy document.`,
    )
  return policies.flatMap((each) => resolvePolicyDocument(state, each) ?? [])
}

/** Reads a Policy document of this workspace once. */
export function resolvePolicyDocument(state: CompileState, document: Document): ResolvedPolicy | undefined {
  const known = state.resolvedPolicies.get(document)
  if (known) return known
  const policy = asKind(document, 'Policy') ?? typedDocument(state, document, 'Policy')
  if (!policy) return undefined
  const version = state.version(policy.metadata.version)
  const published = toPublished('Policy', idOfDocument(document), version, {
    ...policy,
    metadata: { ...policy.metadata, version },
  })
  const resolvedPolicy = readPolicyDocument(state, policy, published, (pointer) => ({ document, pointer }), document)
  if (resolvedPolicy) state.resolvedPolicies.set(document, resolvedPolicy)
  return resolvedPolicy
}

function resolvePublishedPolicy(
  state: CompileState,
  published: PublishedDocument,
  at: DocumentPlace,
): ResolvedPolicy | undefined {
  const key = `Policy ${published.id}@${published.version}`
  const known = state.resolvedPolicies.get(key)
  if (known) return known
  checkPinned(state, 'Policy', published, at)
  // Publishing checked its shape.
  const resolvedPolicy = readPolicyDocument(state, published.document as unknown as PolicyDocument, published, () => at)
  if (resolvedPolicy) state.resolvedPolicies.set(key, resolvedPolicy)
  return resolvedPolicy
}

function toPublished(kind: 'Tool' | 'Policy', id: string, version: string, document: object): PublishedDocument {
  const content = document as JsonObject
  const published = { kind, id, version, document: content }
  return { ...published, digest: digestOfDocument(published) }
}
