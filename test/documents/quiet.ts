/** Rules about what short examples leave out on purpose: tests of other things turn them off. */
export const quiet = Object.fromEntries(
  [
    'agent/owner-missing',
    'limits/missing-tokens',
    'tool/description-missing',
    'tool/no-input-schema',
    'tool/unused-document',
    'approval/reason-missing',
    'subagent/description-missing',
    'mcp/server-unused',
    'mcp/no-auth',
    'schema/number-for-money',
    'schema/open-object',
    'policy/optional-field',
    'policy/unused-document',
    'id/file-name',
    'tool/idempotency-key',
    'bundle/unreferenced-file',
  ].map((rule) => [rule, 'off'] as const),
)
