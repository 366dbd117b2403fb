/** Publications, deployments, and what versions may do. */
import type { SideEffectClass } from '../spec/document.ts'
import type { PolicyEffect } from '../spec/policy-set.ts'
import type { AgentSnapshot, CompiledBundle, PublishedDocument } from '../spec/snapshot.ts'
import type { OperationTable } from './operation.ts'
import {
  anyJson,
  anyJsonObject,
  anyValue,
  boolean,
  bounded,
  described,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  typedJson,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'
import { documentKind, message, reference, versionLabel } from './shared.ts'
import { signedEnvelope } from './trust.ts'

/** A document or file of a publication, or an edit of one. */
export const fileText = object({
  path: textUpTo(1024),
  text: bounded(string, { maxLength: 1_048_576 }),
})

export const publishedMember = object({
  kind: documentKind,
  id: string,
  version: string,
  digest: string,
  agentId: optional(string),
  agentVersionId: optional(string),
  already: boolean,
})
export type PublishedMember = ValueOf<typeof publishedMember>

export const deployedVersion = object({ agentId: string, agentVersionId: string, from: nullable(string) })

export const agentView = object({
  agentId: string,
  name: string,
  deployed: nullable(
    object({
      versionLabel: string,
      agentVersionId: string,
      expiresAt: described(nullable(string), 'No run starts on it from then on; null for no end.'),
    }),
  ),
  triggers: list(string),
  model: described(optional(string), 'Provider and name of the model of the deployed version.'),
  inputContract: optional(anyJson),
  tools: list(string),
  runsToday: described(
    optional(integer),
    'Runs that started since midnight UTC; this and the next two where `usage` was asked for.',
  ),
  waiting: described(optional(integer), 'Runs that wait for a person.'),
  lastRunAt: optional(nullable(string)),
})
export type AgentView = ValueOf<typeof agentView>

/** Maximum sentences about one version. */
export const MOST_LOOSER_CALLS = 3

const looserVersion = object({
  version: string,
  runs: integer,
  looser: described(
    list(string),
    `What it allows more, in sentences; empty where the server can prove nothing. At most ${MOST_LOOSER_CALLS}.`,
  ),
  held: described(boolean, 'An operator has paused it.'),
})
export type LooserVersion = ValueOf<typeof looserVersion>

const versionView = object({
  agentVersionId: string,
  versionLabel: string,
  digest: string,
  publishedAt: string,
  publishedBy: string,
  message: described(optional(string), 'Message of the publisher; absent if none was given.'),
  deployed: boolean,
  yanked: boolean,
  yankReason: optional(string),
})
export type VersionView = ValueOf<typeof versionView>

const deploymentView = object({
  versionLabel: string,
  agentVersionId: string,
  from: described(nullable(string), 'Label of the version before; null for the first.'),
  at: string,
  by: string,
  message: nullable(string),
  expiresAt: described(nullable(string), 'No run starts on it from then on; null for no end.'),
})
export type DeploymentView = ValueOf<typeof deploymentView>

const sourcesView = object({
  id: string,
  version: string,
  closureDigest: string,
  files: list(object({ path: string, digest: string, text: string })),
})
export type SourcesView = ValueOf<typeof sourcesView>

const authorityRow = object({
  tool: described(string, '`namespace.name` of the called tool or agent.'),
  wire: string,
  kind: oneOf('tool', 'agent'),
  decision: oneOf('allow', 'deny', 'require_approval', 'escalate'),
  by: described(string, '`namespace.name@version` of the policy, `effect key`, or `default`.'),
  when: described(
    string,
    'The condition; the class if the default decides; the effect key of a repetition; `always`; or `otherwise`.',
  ),
})
/** What one policy decides about one call of an agent. */
export type AuthorityRow = ValueOf<typeof authorityRow>

/** A difference between two versions. */
export const changeView = object({
  kind: string,
  severity: oneOf('major', 'minor', 'patch'),
  widens: boolean,
  agent: string,
  tool: optional(string),
  witness: described(
    optional(
      object({
        tool: string,
        arguments: anyJson,
        context: optional(anyJsonObject),
        before: string,
        after: string,
      }),
    ),
    'A call that the two versions decide differently.',
  ),
  from: anyJson,
  to: anyJson,
  path: nullable(string),
  say: string,
})
export type ChangeView = ValueOf<typeof changeView>

const graphNode = object({
  id: described(string, 'Unique in the graph.'),
  kind: oneOf('agent', 'tool', 'mcp_server', 'policy', 'secret'),
  name: described(string, '`namespace.name`, the name of a server, or the variable of a secret.'),
  version: optional(string),
  depth: described(integer, 'Number of agents between the root and the node.'),
})
export type GraphNode = ValueOf<typeof graphNode>

const callGate = oneOf('denied', 'always', 'sometimes', 'never')
/** Whether a person or a denial may stand before a call: for every call, for some, or for none. */
export type CallGate = ValueOf<typeof callGate>

const sideEffect: TypedSchema<SideEffectClass> = oneOf(
  'read_only',
  'idempotent_write',
  'non_idempotent_write',
  'irreversible_action',
)
const policyEffect: TypedSchema<PolicyEffect> = oneOf('grant', 'restrict', 'require_approval', 'escalate', 'deny')

const graphEdge = object({
  from: string,
  to: string,
  kind: oneOf('calls', 'delegates', 'served_by', 'asks', 'reads'),
  sideEffect: described(optional(nullable(sideEffect)), 'Of a tool; null if undeclared.'),
  gate: optional(callGate),
  lateBound: described(optional(boolean), 'The version is chosen when the call is made.'),
  effect: described(optional(policyEffect), 'What a policy decides about calls, and of which agent.'),
  agent: optional(string),
})
export type GraphEdge = ValueOf<typeof graphEdge>

/** Everything that a version reaches: `view/bundle-graph.ts` makes it. */
const bundleGraph = object({
  root: described(string, "Id of the root's node."),
  nodes: list(graphNode),
  edges: list(graphEdge),
})
export type BundleGraph = ValueOf<typeof bundleGraph>

const bundle: TypedSchema<CompiledBundle> = object({
  agents: list(anyValue),
  documents: list(anyValue),
  closureDigest: string,
  root: optional(string),
})

const ofAgent = { agent: string }
const ofVersion = { agent: string, version: optional(string) }

export const versionOperations = {
  'POST /publish': {
    body: object({
      bundle,
      deploy: optional(boolean),
      message: optional(message),
      sources: described(
        optional(bounded(list(fileText), { maxItems: 2000 })),
        'The files of the bundle as they were written, for people to read later.',
      ),
      attestations: described(
        optional(bounded(list(signedEnvelope), { maxItems: 16 })),
        'Envelopes of signed statements about this publication.',
      ),
    }),
    answer: object({
      published: list(publishedMember),
      deployed: optional(deployedVersion),
    }),
  },
  'POST /deploy': {
    body: object({
      agent: reference,
      version: optional(string),
      rollback: optional(boolean),
      allowYanked: described(optional(boolean), 'Without it a yanked version is refused.'),
      message: optional(message),
      attestation: described(optional(signedEnvelope), 'Envelope of a signed statement about this deployment.'),
      expiresAt: described(
        optional(nullable(string)),
        'No run starts on it from then on; null for no end. Where it is absent, the version that is deployed already keeps its end. A statement says it itself.',
      ),
    }),
    answer: object({
      agentId: string,
      expiresAt: nullable(string),
      from: nullable(string),
      to: string,
      agentVersionId: string,
      runningOnOld: integer,
    }),
  },
  'GET /looser-versions': {
    about:
      'What still runs on versions that allow more than the deployed one, and the triggers whose keys may start such a version.',
    query: ofAgent,
    answer: object({ items: list(looserVersion), triggers: list(string) }),
  },
  'GET /agents': { query: { usage: optional(boolean) }, answer: listAnswer(agentView) },
  'GET /versions': { query: ofAgent, answer: listAnswer(versionView) },
  'GET /snapshot': {
    about: 'Snapshot of a version: `agent` and `version` or the digest; for resolution, differences and `explain`.',
    query: { agent: optional(string), version: optional(string), digest: optional(string) },
    answer: typedJson<AgentSnapshot>(),
  },
  'GET /matrix': {
    about: 'Of a version; the deployed one by default.',
    query: ofVersion,
    answer: listAnswer(authorityRow),
  },
  'GET /graph': {
    about: 'Everything that a version reaches; the deployed one by default.',
    query: ofVersion,
    answer: bundleGraph,
  },
  'GET /difference': {
    about: 'The changes from `from` to `to`, wider authority first.',
    query: { agent: string, from: string, to: string },
    answer: object({ breaking: boolean, widens: boolean, changes: list(changeView) }),
  },
  'GET /documents': {
    query: { kind: oneOf('Tool', 'Policy'), id: string },
    answer: listAnswer(typedJson<PublishedDocument>()),
  },
  'GET /sources': {
    about: 'The files with which a version was published, as they were written.',
    query: {
      kind: optional(documentKind),
      id: string,
      version: described(optional(string), 'The deployed version of the agent when absent.'),
    },
    answer: sourcesView,
  },
  'GET /deployments': { about: 'Newest first, at most 200.', query: ofAgent, answer: listAnswer(deploymentView) },
  'POST /yank': {
    about: 'A yanked version is never newly chosen; documents that pin it keep it.',
    body: object({
      kind: documentKind,
      id: reference,
      version: versionLabel,
      yanked: boolean,
      reason: described(
        optional(
          bounded(string, {
            maxLength: 300,
            pattern: '^[^\\p{Cc}\\u2028\\u2029]+$',
            message: 'must be one line of 1 to 300 characters without control characters',
          }),
        ),
        'Only where `yanked` is true.',
      ),
    }),
    answer: object({ kind: documentKind, id: string, version: string, digest: string, yanked: boolean }),
  },
} satisfies OperationTable
