/** Projects of a given size, the same on every machine. Each file is a document as people write them, of about a kilobyte. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Documents of one bundle: the Bundle, three agents, eight tools and eight policies. */
const GROUP = 20

/** Writes `count` documents, a multiple of 20, and answers their paths, absolute. */
export function writeCorpus(directory: string, count: number): string[] {
  const files = Array.from({ length: Math.ceil(count / GROUP) }, (_, at) => bundle(at)).flat()
  return files.map(([path, text]) => {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  })
}

function bundle(number: number): [string, string][] {
  const space = `team${number}`
  const at = `bundle-${String(number).padStart(4, '0')}`
  const head = (kind: string, name: string): string =>
    `apiVersion: svc/v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  namespace: ${space}\n  version: "1.2.0"\n  labels:\n    team: claims\n    tier: internal\n`
  const eight = Array.from({ length: 8 }, (_, index) => index)
  return [
    [`${at}/bundle.yaml`, `${head('Bundle', 'all')}spec:\n  root: agents/desk.yaml\n`],
    ...['desk', 'checker', 'writer'].map((name): [string, string] => [
      `${at}/agents/${name}.yaml`,
      `${head('Agent', name)}  owner: team-claims
  governance:
    risk_tier: high
    authority_boundaries:
      - payments-above-limit
secrets:
  model-key:
    fromEnv: MODEL_KEY
output:
  format: json
  strict: true
  on_invalid: retry
  schema:
    inline:
      type: object
      required: [decision, amount]
      properties:
        decision: { enum: [paid, refused] }
        amount: { type: number }
spec:
  # What people read in lists.
  purpose: Decides about claims of the ${name} and books what follows from it.
  instructions:
    text: |
      You decide about claims. Look up the order first, then decide.
      Never pay more than was paid, and say why in one sentence.
  model:
    provider: acme-llm
    name: large-2
    secret: model-key
    parameters: { temperature: 0.2, max_output_tokens: 800 }
  tools:
${eight.map((index) => `    - ref: ${space}.tool-${index}@^1.0\n      policies:\n        - ${space}.policy-${index}\n`).join('')}${name === 'desk' ? '  agents:\n    - ref: agents/checker.yaml\n      description: Says how likely fraud is.\n    - ref: agents/writer.yaml\n      description: Writes to the customer.\n' : ''}  limits:
    max_tokens_per_run: 20000
    max_loop_iterations: 8
    max_wall_clock_seconds: 120
    max_subagent_depth: 2
`,
    ]),
    ...eight.map((index): [string, string] => [
      `${at}/tools/tool-${index}.yaml`,
      `${head('Tool', `tool-${index}`)}spec:
  description: Books an amount on account ${index} and answers the number of the booking.
  side_effect_class: irreversible_action
  input_schema:
    inline:
      type: object
      required: [order, amount, currency]
      additionalProperties: false
      properties:
        order: { type: string, minLength: 1, description: Number of the order. }
        amount: { type: number, exclusiveMinimum: 0 }
        currency: { type: string, enum: [EUR, USD, CHF] }
        reason:
          type: string
          maxLength: 400
          description: Why it is booked, as the customer may read it.
  output_schema:
    inline:
      type: object
      required: [booking]
      properties:
        booking: { type: string }
        bookedAt: { type: string, format: date-time }
`,
    ]),
    ...eight.map((index): [string, string] => [
      `${at}/policies/policy-${index}.yaml`,
      `${head('Policy', `policy-${index}`)}spec:
  description: Amounts above the limit of account ${index} need a person.
  scope: tool:${space}.tool-${index}
  conditions:
    all:
      - field: args.amount
        op: gt
        value: 100
      - any:
          - field: args.currency
            op: in
            value: [EUR, USD]
          - not:
              field: args.reason
              op: exists
              value: true
  decision:
    type: require_approval
    authority_ref: payments-above-limit
    approvals_required: 1
    reason: Amounts above 100 need a person.
    on_reject: return_to_agent
    on_modify: revalidate
    timeout:
      after_minutes: 30
      default: deny
`,
    ]),
  ]
}
