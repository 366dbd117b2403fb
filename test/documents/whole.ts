/** A bundle with something of everything, about which there is nothing to say: tests break one thing in it. */
export const whole: Readonly<Record<string, string>> = {
  'bundle.yaml': `apiVersion: svc/v1
kind: Bundle
metadata: { name: claims, namespace: acme, version: 1.0.0 }
spec: { root: agents/desk.yaml }
`,
  'agents/desk.yaml': `apiVersion: svc/v1
kind: Agent
metadata:
  name: desk
  namespace: acme
  version: 1.0.0
  owner: team-claims
  governance:
    risk_tier: high
    authority_boundaries: [large-payments, data-leaving]
    classifications: [pii]
  annotations: { svc/input-schema: schemas/claim.json }
secrets:
  model-key: { fromEnv: MODEL_KEY }
  search-key: { fromEnv: SEARCH_KEY }
output:
  format: json
  schema: { ref: schemas/answer.json }
  strict: true
  on_invalid: retry
spec:
  purpose: Settle a claim.
  instructions: { ref: prompts/desk.md }
  model: { provider: vendor_a, name: large, secret: model-key, parameters: { temperature: 0.2 } }
  tools:
    - ref: pay.transfer@^1.0
      policies: [pay.large-transfer, { ref: policies/blocked.yaml }]
    - ref: claims.lookup@^2.1
    - ref: web.search@^1.0
      as: search_web
      description: Searches the public register of garages.
      side_effect_class: read_only
      input_schema: { inline: { type: object, required: [text], properties: { text: { type: string, maxLength: 200 } }, additionalProperties: false } }
      mcp: { server: search, tool: search }
  mcp_servers:
    - name: search
      url: https://search.example/mcp
      auth: { scheme: bearer, secret: search-key }
  agents:
    - ref: agents/estimator.yaml
      as: estimate
      description: Says what a repair should cost.
      policies: [acme.few-estimates]
  default_policies: [acme.office-hours]
  limits: { max_tokens_per_run: 50000, max_loop_iterations: 10, max_hitl_wait_minutes: 2000, max_subagent_depth: 2 }
`,
  'agents/estimator.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: estimator, namespace: acme, version: 1.0.0, owner: team-claims }
secrets:
  model-key: { fromEnv: MODEL_KEY }
output: { format: json, schema: { ref: schemas/answer.json }, strict: true }
spec:
  purpose: Estimate a repair.
  instructions: { ref: prompts/estimator.md }
  model: { provider: vendor_a, name: small, secret: model-key }
  tools:
    - ref: claims.lookup@^2.1
  limits: { max_tokens_per_run: 5000, max_loop_iterations: 5 }
`,
  'tools/transfer.yaml': `apiVersion: svc/v1
kind: Tool
metadata:
  name: transfer
  namespace: pay
  version: 1.0.0
  labels: { svc/effect-key: 'transfer:{args.cents}', svc/undone-by: none }
spec:
  description: Pays a claim out. Cannot be undone.
  side_effect_class: irreversible_action
  input_schema: { ref: schemas/transfer.json }
  default_policies: [pay.small-transfer]
`,
  'tools/lookup.yaml': `apiVersion: svc/v1
kind: Tool
metadata: { name: lookup, namespace: claims, version: 2.1.0, labels: { svc/data: private } }
spec:
  description: Reads a claim.
  side_effect_class: read_only
  input_schema:
    inline:
      type: object
      required: [claim]
      properties: { claim: { type: string, maxLength: 20 } }
      additionalProperties: false
`,
  'policies/large-transfer.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: large-transfer, namespace: pay, version: 1.0.0 }
spec:
  description: Payments above the limit need a person.
  scope: tool:pay.transfer
  conditions: { field: args.cents, op: gt, value: 50000 }
  decision:
    type: require_approval
    authority_ref: large-payments
    approvals_required: 1
    reason: Payments above 500 EUR need a person.
    on_reject: return_to_agent
    on_modify: revalidate
    timeout: { after_minutes: 60, default: deny }
`,
  'policies/small-transfer.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: small-transfer, namespace: pay, version: 1.0.0 }
spec:
  description: Small payments need nobody.
  scope: tool:pay.transfer
  conditions: { field: args.cents, op: lte, value: 50000 }
  decision: { type: allow }
`,
  'policies/blocked.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: blocked, namespace: pay, version: 1.0.0 }
spec:
  description: Nothing is paid to these.
  scope: tool:pay.transfer
  conditions: { field: args.iban, op: in, value: [DE00, DE01] }
  decision: { type: deny, reason: This account is blocked. }
`,
  'policies/leaving.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: leaving, namespace: acme, version: 1.0.0 }
spec:
  description: Searches do not name people.
  scope: tool:web.search
  conditions: { all: [{ field: agent.classifications, op: contains, value: pii }, { field: args.text, op: matches, value: '^.*(?:Mr|Mrs).*$' }] }
  decision: { type: deny, authority_ref: data-leaving, reason: The search names a person. }
`,
  'policies/few-estimates.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: few-estimates, namespace: acme, version: 1.0.0 }
spec:
  description: Estimates are asked for at the first level only.
  conditions: { field: run.depth, op: gt, value: 1 }
  decision: { type: deny, reason: Estimates are not delegated further. }
`,
  'policies/office-hours.yaml': `apiVersion: svc/v1
kind: Policy
metadata: { name: office-hours, namespace: acme, version: 1.0.0 }
spec:
  description: Nothing happens for runs that were halted before.
  conditions: { field: run.depth, op: gt, value: 3 }
  decision: { type: deny, reason: Too deep. }
`,
  'schemas/transfer.json': `{
  "type": "object",
  "required": ["iban", "cents"],
  "properties": {
    "iban": { "type": "string", "maxLength": 34 },
    "cents": { "type": "integer", "minimum": 1 }
  },
  "additionalProperties": false
}
`,
  'schemas/claim.json': '{ "type": "object", "properties": { "claim": { "type": "string" } } }\n',
  'schemas/answer.json': '{ "type": "object", "properties": { "paid": { "type": "boolean" } } }\n',
  'prompts/desk.md': 'You settle claims. Look the claim up, ask for an estimate, then pay.\n',
  'prompts/estimator.md': 'You estimate what a repair costs.\n',
}
