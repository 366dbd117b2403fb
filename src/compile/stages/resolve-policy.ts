/** Resolves the policies that agents, tools and the project file attach. */
import { rcompare } from 'semver'
import type { Document } from '../../documents/text/document.ts'
import { checkPath } from '../../documents/text/paths.ts'
import type { PolicyAttachment } from '../../spec/document.ts'
import type { PublishedDocument } from '../../spec/snapshot.ts'
import {
  checkPinned,
  idOfDocument,
  reportFinding,
  typedDocument,
  type AttachedPolicy,
  type CompileState,
  type DocumentPlace,
  type ResolvedPolicy,
} from '../state/state.ts'
import { typedPublished } from '../state/published-document.ts'
import { explainUnresolvedPath } from '../state/unresolved-path.ts'
import { bundleDocuments, chooseVersion, explainMissing, toPublished } from './choose-version.ts'
import { readPolicyDocument } from './read-policy.ts'

/** The policies of one list. A policy that is missing or invalid is reported where it is attached. */
export async function resolveAttachments(
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
    rcompare(a.identity.version, b.identity.version),
  )
  if (newest) return resolvePolicyDocument(state, newest)
  const published = chooseVersion(state, 'Policy', id, await state.published.policies(id), '*')
  if (published) return resolvePublishedPolicy(state, published, at)
  return reportFinding(state, 'policy/attachment-missing', at, explainMissing(state, 'Policy', id, at.document))
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

/** The project file; a guardrail that names no policy is reported there. */
const CONFIG = 'svc.config.yaml'

export function readGuardrail(state: CompileState, written: string, index: number): ResolvedPolicy[] | undefined {
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
  const policy = typedDocument(state, document, 'Policy')
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
  const policy = typedPublished(state, 'Policy', published, at)
  const resolvedPolicy = policy && readPolicyDocument(state, policy, published, () => at)
  if (resolvedPolicy) state.resolvedPolicies.set(key, resolvedPolicy)
  return resolvedPolicy
}
