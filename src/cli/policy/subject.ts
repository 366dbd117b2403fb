/** The policies that a command evaluates: those of an agent in a bundle, or Policy documents without an agent. */
import { stat } from 'node:fs/promises'
import { basename, dirname, relative, resolve } from 'node:path'
import { fail } from '../../base/failure.ts'
import { ancestorsOf, agentDepth } from '../../compile/ancestors.ts'
import { substitutePolicies } from '../../compile/edit/substitute.ts'
import { compileUnattachedPolicies, readUnattachedTool, type PolicyTarget } from '../../compile/unattached.ts'
import type { Diagnostic } from '../../documents/text/diagnostic.ts'
import type { Document } from '../../documents/text/document.ts'
import { loadWorkspace } from '../../documents/workspace/load.ts'
import type { Workspace } from '../../documents/workspace/workspace.ts'
import { factsOfAgent, factsOfCaller, factsOfTool } from '../../policy/callee-facts.ts'
import type { CallFacts, PolicySets } from '../../policy/condition/decision.ts'
import { delegationSchema } from '../../spec/delegation.ts'
import type { PolicySet } from '../../spec/policy-set.ts'
import type { CompiledBundle, JsonSchema, AgentSnapshot } from '../../spec/snapshot.ts'
import { documentsFailure } from '../release/findings.ts'
import { suggestWord } from '../../base/text/nearest-word.ts'
import type { Project } from '../project/project.ts'
import { loadDocuments } from '../project/documents.ts'
import { textBefore } from '../../base/text/text-parts.ts'

/** A tool or sub-agent that the subject can call. */
export interface EvalCallee {
  readonly tool: CallFacts['tool']
  /** The input schema that the model sees. */
  readonly schema?: PolicyTarget['schema']
  /** Arguments are checked against each before policies are evaluated. */
  readonly schemas: readonly JsonSchema[]
}

export interface EvalSubject {
  readonly agent: CallFacts['agent']
  readonly callees: readonly EvalCallee[]
  readonly policies: PolicySet
  /** Agents that delegate to it, nearest first; their boundaries apply to its calls too. */
  readonly ancestors: readonly EvalSubject[]
  /** Delegations between the root and it. */
  readonly depth: number
}

/** The policy sets for a call of the subject. */
export const policySetsOf = ({ policies, ancestors }: EvalSubject): PolicySets => ({
  own: policies,
  ancestors: ancestors.map((each) => each.policies),
})

/** An agent of a bundle with its ancestors. */
export const policySubjectOf = (bundle: Pick<CompiledBundle, 'agents'>, snapshot: AgentSnapshot): EvalSubject => ({
  ...withoutAncestors(snapshot, bundle.agents),
  ancestors: ancestorsOf(bundle, snapshot.id).map((each) => withoutAncestors(each, bundle.agents)),
  depth: agentDepth(bundle, snapshot.id),
})

function withoutAncestors(snapshot: AgentSnapshot, agents: readonly AgentSnapshot[]): EvalSubject {
  return {
    agent: factsOfCaller(snapshot),
    policies: snapshot.policies,
    ancestors: [],
    depth: 0,
    callees: [
      ...snapshot.tools.map((tool): EvalCallee => ({
        tool: factsOfTool(tool),
        ...(tool.inputSchema !== undefined && { schema: tool.inputSchema }),
        schemas: tool.inputSchemas,
      })),
      ...snapshot.agents.map((edge): EvalCallee => {
        const child = agents.find((each) => each.id === edge.id)
        // The input of a late-bound agent is known only when it is called.
        const known = child !== undefined || edge.inputSchema !== undefined
        return {
          tool: factsOfAgent(edge, child),
          schemas: known ? [delegationSchema(edge.inputSchema, child?.inputContract)] : [],
        }
      }),
    ],
  }
}

/** @throws Failure `not_found` */
export function calleeOf({ agent, callees }: EvalSubject, name: string): EvalCallee {
  const id = name.split('@')[0]
  const found = callees.find(({ tool }) => tool.id === id || tool.wire_name === id)
  if (found) return found
  const ids = callees.map(({ tool }) => tool.id)
  throw fail('not_found', { what: `tool ${name} of ${agent.id}` }, { fix: suggestWord(name, ids) })
}

/**
 * Policy documents by path, relative to where they were named or to the project, or by `namespace.name`. Files outside of the
 * project are accepted too, so that a draft need not lie among the policies in force.
 * @throws Failure `not_found`
 */
export async function policyDocuments(
  project: Project,
  names: readonly string[],
  near: string = project.directory,
): Promise<{ readonly workspace: Workspace; readonly documents: readonly Document[] }> {
  const workspace = await loadDocuments(project)
  const all = workspace.documents.filter(isPolicy)
  const documents: Document[] = []
  for (const name of names) {
    const paths = [near, project.directory].map((from) => resolve(from, name))
    const inside = paths.map((path) => relative(project.directory, path).replaceAll('\\', '/'))
    const found = all.filter(
      ({ path, identity }) =>
        inside.some((each) => each === '' || path === each || path.startsWith(`${each}/`)) ||
        identity?.id === name.split('@')[0],
    )
    const outside = found.length > 0 ? [] : await policiesAt(paths[0]!)
    if (found.length + outside.length === 0) throw noPolicy(name, all)
    documents.push(...found, ...outside)
  }
  return { workspace, documents: [...new Set(documents)] }
}

const isPolicy = ({ kind }: Document): boolean => kind === 'Policy'

async function policiesAt(path: string): Promise<readonly Document[]> {
  const there = await stat(path).catch(() => undefined)
  if (!there) return []
  const { documents } = there.isDirectory()
    ? await loadWorkspace(path)
    : await loadWorkspace(dirname(path), { include: [basename(path)] })
  return documents.filter(isPolicy)
}

function noPolicy(name: string, all: readonly Document[]): Error {
  const names = all.flatMap(({ path, identity }) => [path, ...(identity ? [identity.id] : [])])
  return fail('not_found', { what: `policy ${name}` }, { fix: suggestWord(name, names) })
}

/** A placeholder agent for policies that are evaluated without one. */
const PLACEHOLDER_AGENT: CallFacts['agent'] = { id: 'svc.nobody', version: '0.0.0', classifications: [], labels: {} }

/**
 * Policies without an agent, for some tools. Facts of a tool come from its Tool document, where there is one.
 * @throws Failure `documents_have_errors`
 */
export function policiesAlone(
  workspace: Workspace,
  documents: readonly Document[],
  tools: readonly string[],
): EvalSubject {
  const callees = [...new Set(tools.map((name) => textBefore(name, '@')))].map((id) => toolNamed(workspace, id))
  return {
    agent: PLACEHOLDER_AGENT,
    callees,
    policies: setOf(workspace, documents, PLACEHOLDER_AGENT.id, callees),
    ancestors: [],
    depth: 0,
  }
}

/** The subject with other policies: one of the same name replaces the old one, a new one applies to every call in its scope. */
export function withPolicies(subject: EvalSubject, workspace: Workspace, documents: readonly Document[]): EvalSubject {
  const { agent, callees, policies, ancestors } = subject
  return {
    ...subject,
    policies: substitutePolicies(policies, setOf(workspace, documents, agent.id, callees)),
    ancestors: ancestors.map((each) => withPolicies(each, workspace, documents)),
  }
}

function setOf(
  workspace: Workspace,
  documents: readonly Document[],
  agent: string,
  callees: readonly EvalCallee[],
): PolicySet {
  const { set, findings } = compileUnattachedPolicies(workspace, documents, agent, callees.map(toPolicyTarget))
  if (!set) throw documentsFailure(findings satisfies readonly Diagnostic[])
  return set
}

const toPolicyTarget = ({ tool, schema }: EvalCallee): PolicyTarget => ({
  wire: tool.wire_name,
  id: tool.id,
  kind: tool.kind === 'agent' ? 'agent' : 'tool',
  ...(tool.side_effect_class && { sideEffectClass: tool.side_effect_class }),
  ...(schema !== undefined && { schema }),
})

function toolNamed(workspace: Workspace, id: string): EvalCallee {
  const { version = '', sideEffectClass, labels = {}, schema } = readUnattachedTool(workspace, id) ?? {}
  return {
    tool: {
      id,
      version,
      wire_name: id,
      kind: 'tool',
      ...(sideEffectClass && { side_effect_class: sideEffectClass }),
      labels,
    },
    ...(schema !== undefined && { schema }),
    schemas: schema === undefined ? [] : [schema],
  }
}
