import { compileClosure, type CompileResult, type CompileInput } from '../../src/compile/compile.ts'
import { nothingPublished, type PublishedLookup } from '../../src/compile/state/published.ts'
import { writeLock } from '../../src/compile/state/lock-file.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import type { CompiledBundle, AgentSnapshot } from '../../src/spec/snapshot.ts'

export type Files = Readonly<Record<string, string>>

/** A bundle of a desk that delegates to a clerk, with two tools and three policies. A test names what it changes. */
export const DESK: Files = trimmed({
  'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: refund, namespace: acme, version: 1.0.0 }
spec: { root: agents/desk.yaml }
`,
  'agents/desk.yaml': `
apiVersion: svc/v1
kind: Agent
metadata:
  name: desk
  namespace: acme
  version: 1.2.0
  governance: { authority_boundaries: [refund-limit] }
  annotations: { svc/input-schema: schemas/input.json }
secrets:
  vendor_a: { fromEnv: VENDOR_A_KEY }
spec:
  purpose: Decide on refunds.
  instructions: { ref: prompts/desk.md }
  model: { provider: vendor_a, name: big }
  tools:
    - ref: acme.orders.lookup@^1.0
    - ref: acme.refunds@^1.0
      policies: [acme.small]
  agents:
    - ref: agents/clerk.yaml
      as: ask_clerk
  default_policies: [acme.ceiling]
`,
  'agents/clerk.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: clerk, namespace: acme, version: 1.0.0 }
spec:
  purpose: Know the rules.
  instructions: { text: Answer shortly. }
  model: { provider: scripted, name: clerk, provider_options: { script: models/clerk.yaml, seed: 7 } }
  tools:
    - ref: acme.refunds
      as: pay_back
`,
  'tools/lookup.yaml': `
apiVersion: svc/v1
kind: Tool
metadata: { name: lookup, namespace: acme.orders, version: 1.0.3 }
spec:
  description: Reads an order.
  side_effect_class: read_only
  input_schema: { ref: schemas/order.json }
`,
  'tools/refunds.yaml': `
apiVersion: svc/v1
kind: Tool
metadata: { name: refunds, namespace: acme, version: 1.0.0, labels: { svc/egress: external } }
spec:
  description: Pays money back.
  side_effect_class: irreversible_action
  input_schema:
    inline:
      type: object
      properties: { amount: { type: number }, currency: { enum: [EUR, USD] } }
`,
  'policies/small.yaml': `
apiVersion: svc/v1
kind: Policy
metadata: { name: small, namespace: acme, version: 1.0.0 }
spec:
  scope: tool:acme.refunds
  conditions: { field: amount, op: "<=", value: 100 }
  decision: { type: allow }
`,
  'policies/limit.yaml': `
apiVersion: svc/v1
kind: Policy
metadata: { name: limit, namespace: acme, version: 2.0.0 }
spec:
  scope: tool:acme.refunds
  conditions: { field: args.amount, op: gt, value: 100 }
  decision:
    type: require_approval
    authority_ref: refund-limit
    reason: Above 100
    timeout: { after_minutes: 30, default: deny }
    runtime: { svc/approver_role: finance, svc/separation_of_duties: true, svc/approval_proof: passkey }
`,
  'policies/ceiling.yaml': `
apiVersion: svc/v1
kind: Policy
metadata: { name: ceiling, namespace: acme, version: 1.0.0 }
spec:
  conditions: { field: args.amount, op: gt, value: 5000, if_missing: false }
  decision: { type: block, runtime: { svc/message: Ask for less. } }
`,
  'prompts/desk.md': 'You decide on refunds.\n',
  'models/clerk.yaml': '- say: Yes.\n',
  'schemas/input.json': '{"type": "object", "properties": {"order": {"$ref": "order.json#/properties/order"}}}',
  'schemas/order.json':
    '{"$id": "https://acme.example/order", "type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}',
})

function trimmed(files: Files): Files {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [path, text.trimStart()]))
}

/** The files with a lock beside them. */
export const lockedBy = (files: Files, { lock }: CompileResult): Files => ({ ...files, 'svc.lock': writeLock(lock!) })

export const compileFiles = (files: Files, options: Partial<CompileInput> = {}): Promise<CompileResult> =>
  compileClosure({ workspace: loadFiles(files), root: '', published: nothingPublished, ...options })

/** The bundle of files without findings of severity error. */
export async function bundleOf(files: Files, options: Partial<CompileInput> = {}): Promise<CompiledBundle> {
  const { bundle, findings } = await compileFiles(files, options)
  if (!bundle) throw new Error(JSON.stringify(findings.map(({ rule, path, message }) => [rule, path, message])))
  return bundle
}

export function agentOf(bundle: CompiledBundle, id: string): AgentSnapshot {
  const found = bundle.agents.find((agent) => agent.id === id)
  if (!found) throw new Error(`${id} is not in the bundle.`)
  return found
}

/** The files with a text replaced in one of them, which must be there. */
export function changed(files: Files, path: string, from: string, to: string): Files {
  if (!files[path]?.includes(from)) throw new Error(`${path} has no ${from}`)
  return { ...files, [path]: files[path].replace(from, to) }
}

/** A registry with the members of a bundle in it. */
export const registryOf = (...bundles: readonly CompiledBundle[]): PublishedLookup => {
  const documents = bundles.flatMap((bundle) => bundle.documents)
  return {
    agent: (id, version) =>
      Promise.resolve(
        bundles.flatMap(({ agents }) => agents).find((each) => each.id === id && each.version === version),
      ),
    tools: (id) => Promise.resolve(documents.filter((each) => each.kind === 'Tool' && each.id === id)),
    policies: (id) => Promise.resolve(documents.filter((each) => each.kind === 'Policy' && each.id === id)),
  }
}
