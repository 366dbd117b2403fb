/** Which findings of a rule are only the consequence of others. `follow-ups.ts` leaves these out. */
import type { RuleName } from '../facts/rule.ts'

/** When a finding of a rule is only the consequence of another finding. Keys are dotted paths. */
export interface FollowUp {
  /** Keys whose absence the rule reports, in the document or in a related one. */
  readonly missingKeys?: readonly string[]
  /** Keys through which any document could refer to what the rule reports as unused or unlinked. */
  readonly referencingKeys?: readonly string[]
  /** True when the rule misses a document, which may be one that cannot be read or that has no readable name. */
  readonly missesDocument?: true
  /** True when the rule draws conclusions from its related documents. */
  readonly usesRelated?: true
  /** Rules that report the same name. */
  readonly sameName?: readonly RuleName[]
  /** Rules that report the same place. */
  readonly samePlace?: readonly RuleName[]
  /** Rules that miss a whole document, which may use or define what this rule reports. */
  readonly missingDocuments?: readonly RuleName[]
  /** True when a form error of the same value comes first: the rule cannot judge such a value. */
  readonly sameValue?: true
  /** True when the rule resolves a path from the directory of the bundle. */
  readonly bundlePath?: true
  /** True when several uses lack what their common document could declare once: only the first is reported. */
  readonly onlyFirst?: true
}

/** The keys of a name: without them a document is missed by what refers to it. */
export const IDENTITY_KEYS = ['metadata.namespace', 'metadata.name', 'metadata.version']
const POLICY_USERS = ['spec.default_policies.*.ref', 'spec.tools.*.policies.*.ref', 'spec.agents.*.policies.*.ref']
const PATH_USERS = [
  'spec.instructions.ref',
  'output.schema.ref',
  'spec.input_schema.ref',
  'spec.output_schema.ref',
  'spec.tools.*.input_schema.ref',
  'spec.agents.*.input_schema.ref',
  'metadata.annotations.*',
  'spec.agents.*.ref',
  'spec.root',
]
const GAPS: readonly RuleName[] = ['bundle/root-missing', 'subagent/missing', 'tool/unresolved']
const TOOL_NAMES: readonly RuleName[] = ['tool/unresolved', 'tool/range-invalid', 'tool/ref-syntax']
const SCOPE_NAMES: readonly RuleName[] = ['policy/scope-syntax', ...TOOL_NAMES]
const SCHEMA_FAULTS: readonly RuleName[] = ['schema/invalid', 'schema/required-undefined', 'schema/ref-missing']

export const FOLLOW_UPS: Readonly<Partial<Record<RuleName, FollowUp>>> = {
  'doc/version-without-ref': { sameValue: true },
  'id/file-name': { sameName: ['tool/unresolved', 'policy/attachment-missing'] },
  'agent/needs-bundle': { missesDocument: true },
  'agent/owner-missing': { missingKeys: ['metadata.owner'] },
  'tool/effect-key-missing': { missingKeys: ['metadata.labels.svc/effect-key'] },
  'tool/undo-undeclared': { missingKeys: ['metadata.labels.svc/undone-by'] },
  'agent/instructions-missing-file': { bundlePath: true },
  'model/script': { bundlePath: true },
  'agent/no-tools-but-policies': { sameValue: true, samePlace: ['policy/attachment-missing'] },
  'model/base-url-invalid': { sameValue: true },
  'model/base-url-insecure': { sameValue: true },
  'model/base-url-full-path': { sameValue: true },
  'model/secret-undeclared': { missingKeys: ['secrets'], sameValue: true },
  'model/secret-implicit-missing': { missingKeys: ['spec.model.secret', 'secrets'] },
  'secret/undeclared': { missingKeys: ['secrets'], sameValue: true },
  'secret/unused': {
    missingKeys: ['spec.model.secret', 'spec.mcp_servers.*.auth.secret'],
    sameName: ['model/secret-undeclared', 'secret/undeclared', 'model/secret-implicit-missing'],
  },
  'limits/missing-loop': { missingKeys: ['spec.limits.max_loop_iterations'] },
  'limits/missing-tokens': { missingKeys: ['spec.limits.max_tokens_per_run'] },
  'output/schema-without-json': { missingKeys: ['output.format'] },
  'output/strict-without-schema': { missingKeys: ['output.schema'], sameValue: true },
  'output/on-invalid-without-schema': { missingKeys: ['output.schema'], sameValue: true },
  'output/strict-missing': { missingKeys: ['output.strict'] },
  'schema/not-object': { usesRelated: true, samePlace: ['schema/invalid'] },
  'schema/open-object': { samePlace: ['schema/not-object', 'schema/invalid'] },
  'schema/unbounded-string': { samePlace: ['schema/invalid'] },
  'schema/ref-missing': { bundlePath: true },
  'tool/unresolved': { missingKeys: ['spec.tools.*.mcp'], missesDocument: true, sameName: ['id/invalid-semver'] },
  'tool/description-missing': { missingKeys: ['spec.description', 'spec.tools.*.description'], onlyFirst: true },
  'tool/class-missing': { missingKeys: ['spec.side_effect_class', 'spec.tools.*.side_effect_class'], onlyFirst: true },
  'tool/no-input-schema': { missingKeys: ['spec.input_schema', 'spec.tools.*.input_schema'], onlyFirst: true },
  'tool/unused-document': {
    missingKeys: IDENTITY_KEYS,
    referencingKeys: ['spec.tools.*.ref'],
    missesDocument: true,
    sameName: TOOL_NAMES,
    missingDocuments: GAPS,
  },
  'mcp/header-ignored': { sameValue: true, samePlace: ['mcp/header-invalid'] },
  'mcp/server-undeclared': { missingKeys: ['spec.mcp_servers.*.name'] },
  'mcp/server-unused': { missingKeys: ['spec.tools.*.mcp.server'], sameName: ['mcp/server-undeclared'] },
  'mcp/no-auth': { missingKeys: ['spec.mcp_servers.*.auth'], samePlace: ['secret/in-url'] },
  'mcp/no-contract': { missingKeys: ['spec.tools.*.input_schema'] },
  'subagent/missing': { missesDocument: true, bundlePath: true },
  'subagent/description-missing': { missingKeys: ['spec.agents.*.description'] },
  'policy/no-decision': { missingKeys: ['spec.decision'] },
  'policy/attachment-missing': { missesDocument: true, bundlePath: true },
  'policy/allow-without-type': { sameValue: true },
  'policy/unused-document': {
    missingKeys: [...IDENTITY_KEYS, 'spec.decision.authority_ref'],
    referencingKeys: POLICY_USERS,
    missesDocument: true,
    sameName: ['policy/attachment-missing'],
    missingDocuments: GAPS,
  },
  'policy/scope-mismatch': { missingKeys: IDENTITY_KEYS, usesRelated: true, sameName: SCOPE_NAMES },
  'policy/scope-unknown-tool': {
    referencingKeys: ['spec.tools.*.ref', ...IDENTITY_KEYS],
    missesDocument: true,
    sameName: ['policy/scope-mismatch', 'authority/ineffective', ...TOOL_NAMES],
    missingDocuments: GAPS,
  },
  'policy/condition-field': { samePlace: ['policy/field-not-in-schema'] },
  'policy/field-not-in-schema': { usesRelated: true, sameName: SCHEMA_FAULTS },
  'policy/type-mismatch': { usesRelated: true, samePlace: ['doc/number-range'] },
  'policy/never-true': { usesRelated: true },
  'policy/always-true': { usesRelated: true },
  'policy/optional-field': { usesRelated: true, sameName: SCHEMA_FAULTS },
  'policy/shadowed': { usesRelated: true },
  'policy/unreachable-approval': { usesRelated: true },
  'approval/fields-ignored': {
    sameValue: true,
    samePlace: [
      'approval/count-range',
      'approval/timeout-range',
      'approval/on-reject-value',
      'approval/on-modify-value',
    ],
  },
  'approval/reason-missing': { missingKeys: ['spec.decision.reason'] },
  'authority/unresolved': {
    referencingKeys: ['spec.decision.authority_ref'],
    missesDocument: true,
    missingDocuments: ['policy/attachment-missing'],
  },
  'authority/orphan-ref': {
    referencingKeys: ['metadata.governance.authority_boundaries.*'],
    missesDocument: true,
    sameName: ['authority/unresolved'],
    missingDocuments: GAPS,
  },
  'authority/ineffective': {
    referencingKeys: ['spec.tools.*.ref'],
    usesRelated: true,
    sameName: ['policy/scope-mismatch', ...SCOPE_NAMES],
  },
  'bundle/root-missing': { missesDocument: true },
  'bundle/external-unpinned': { missingKeys: ['spec.agents.*.late_bound'] },
  'bundle/lock-missing': { sameName: TOOL_NAMES },
  'bundle/unreferenced-file': {
    referencingKeys: PATH_USERS,
    missesDocument: true,
    sameName: ['agent/instructions-missing-file', 'model/script', ...SCHEMA_FAULTS],
    missingDocuments: GAPS,
  },
  'security/blanket-allow-irreversible': { missingKeys: ['spec.conditions'], usesRelated: true },
  'security/irreversible-without-approval': { usesRelated: true },
  'security/write-without-approval': { usesRelated: true },
  'security/data-uri-image': { missingKeys: ['output.format'] },
}
