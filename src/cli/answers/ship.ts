import type { JsonObject } from '../../base/json/json.ts'
import type { OperatorRoutes } from '../../spec/operator/routes.ts'
import type {
  CreatedKey,
  CreatedOperatorKey,
  KeyView,
  OperatorKeyView,
  TriggerView,
} from '../../spec/operator/access.ts'
import type {
  DeploymentView,
  SourcesView,
  AgentView,
  PublishedMember,
  VersionView,
} from '../../spec/operator/publication.ts'
import type { BundleGraph } from '../../spec/operator/bundle-graph.ts'
import type { PlanStep } from '../release/plan.ts'
import { versionChangeSchema } from './difference.ts'
import {
  anyObject,
  anyValue,
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  object,
  oneOf,
  optional,
  string,
  type AnswerSchema,
} from './schema.ts'

const kind = oneOf('Agent', 'Tool', 'Policy')
const bump = nullable(oneOf('patch', 'minor', 'major'))

const publishedMember: AnswerSchema<PublishedMember> = object({
  kind,
  id: string,
  version: string,
  digest: string,
  agentId: optional(string),
  agentVersionId: optional(string),
  already: boolean,
})

const planStep: AnswerSchema<PlanStep> = object({
  kind,
  id: string,
  from: nullable(string),
  to: string,
  required: bump,
  given: bump,
  least: nullable(string),
  enough: boolean,
  taken: boolean,
})

/** What a deployment leaves running on versions that may do more. */
const olderRuns: AnswerSchema<OperatorRoutes['GET /looser-versions']['answer']> = object({
  items: list(object({ version: string, runs: integer, looser: list(string), held: boolean })),
  triggers: list(string),
})

export const publishAnswer = object({
  published: list(publishedMember),
  plan: object({
    breaking: boolean,
    steps: list(planStep),
    changes: list(versionChangeSchema),
    matrix: optional(list(object({ agent: string, rows: anyValue }))),
  }),
  deployed: optional(object({ agentId: string, agentVersionId: string, from: nullable(string) })),
  older: optional(olderRuns),
})

export const versionsAnswer: AnswerSchema<OperatorRoutes['GET /versions']['answer']> = listAnswer<VersionView>(
  object({
    agentVersionId: string,
    versionLabel: string,
    digest: string,
    publishedAt: string,
    publishedBy: string,
    message: optional(string),
    deployed: boolean,
    yanked: boolean,
    yankReason: optional(string),
  }),
)

export const sourcesAnswer: AnswerSchema<SourcesView> = object({
  id: string,
  version: string,
  closureDigest: string,
  files: list(object({ path: string, digest: string, text: string })),
})

export const graphAnswer: AnswerSchema<BundleGraph> = object({
  root: string,
  nodes: list(
    object({
      id: string,
      kind: oneOf('agent', 'tool', 'mcp_server', 'policy', 'secret'),
      name: string,
      version: optional(string),
      depth: integer,
    }),
  ),
  edges: list(
    object({
      from: string,
      to: string,
      kind: oneOf('calls', 'delegates', 'served_by', 'asks', 'reads'),
      sideEffect: optional(
        nullable(oneOf('read_only', 'idempotent_write', 'non_idempotent_write', 'irreversible_action')),
      ),
      gate: optional(oneOf('denied', 'always', 'sometimes', 'never')),
      lateBound: optional(boolean),
      effect: optional(oneOf('grant', 'restrict', 'require_approval', 'escalate', 'deny')),
      agent: optional(string),
    }),
  ),
})

export const deploymentsAnswer: AnswerSchema<OperatorRoutes['GET /deployments']['answer']> = listAnswer<DeploymentView>(
  object({
    versionLabel: string,
    agentVersionId: string,
    from: nullable(string),
    at: string,
    by: string,
    message: nullable(string),
  }),
)

export const yankAnswer: AnswerSchema<OperatorRoutes['POST /yank']['answer']> = object({
  kind,
  id: string,
  version: string,
  digest: string,
  yanked: boolean,
})

export const deployAnswer: AnswerSchema<
  OperatorRoutes['POST /deploy']['answer'] & { older?: OperatorRoutes['GET /looser-versions']['answer'] }
> = object({
  agentId: string,
  from: nullable(string),
  to: string,
  agentVersionId: string,
  runningOnOld: integer,
  older: optional(olderRuns),
})

const agentFields = {
  agentId: string,
  name: string,
  deployed: nullable(object({ versionLabel: string, agentVersionId: string })),
  triggers: list(string),
  inputContract: optional(anyValue),
  tools: list(string),
  runsToday: optional(integer),
  waiting: optional(integer),
  lastRunAt: optional(nullable(string)),
}

export const agentsAnswer = listAnswer<AgentView>(object(agentFields))

export const agentAnswer: AnswerSchema<AgentView & { readonly run: string; readonly curl: string }> = object({
  ...agentFields,
  run: string,
  curl: string,
})

export const triggerAnswer: AnswerSchema<TriggerView> = object({
  triggerId: string,
  agentId: string,
  agent: string,
  type: oneOf('api', 'schedule'),
  name: string,
  active: boolean,
  exposeTimeline: boolean,
  allowDelete: boolean,
  allowApprovals: boolean,
  allowOlderVersions: boolean,
  allowIps: list(string),
  ratePerMinute: nullable(integer),
  ratePerDay: nullable(integer),
  maxConcurrentRuns: nullable(integer),
  cron: nullable(string),
  timeZone: nullable(string),
  input: nullable(anyObject as AnswerSchema<JsonObject>),
  inputProblem: nullable(string),
  refused: nullable(object({ at: string, code: string, message: string })),
  next: list(string),
  createdAt: string,
})

export const triggersAnswer = listAnswer(triggerAnswer)

export const deletedTrigger: AnswerSchema<OperatorRoutes['DELETE /triggers/:id']['answer']> = object({
  triggerId: string,
})

const keyTimes = {
  name: nullable(string),
  prefix: string,
  createdAt: string,
  expiresAt: nullable(string),
  revokedAt: nullable(string),
  lastUsedAt: nullable(string),
}

/** Fields of a key for agents, and of an operator's credential. */
const keyFields = {
  keyId: string,
  agentId: optional(string),
  agent: optional(string),
  triggerId: optional(string),
  trigger: optional(string),
  allowUploads: optional(boolean),
  email: optional(string),
  roles: optional(list(string)),
  ...keyTimes,
}

export const keyAnswer: AnswerSchema<KeyView | OperatorKeyView> = object(keyFields)
export const keysAnswer = listAnswer(keyAnswer)
export const createdKeyAnswer: AnswerSchema<CreatedKey | CreatedOperatorKey> = object({ ...keyFields, secret: string })
