import type { BundleTree } from '../../compile/bundle-tree.ts'
import type { CompileSummary } from '../../compile/summary.ts'
import type { ConsideredPolicies } from '../policy/list-applicable.ts'
import {
  anyObject,
  anyValue,
  boolean,
  integer,
  list,
  listAnswer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  type TypedSchema,
} from '../../operations/schema.ts'

export const initAnswer = object({
  dir: string,
  template: string,
  files: list(object({ path: string, action: oneOf('created', 'skipped') })),
  next: list(string),
})

/** `init --list`. */
export const templatesAnswer = listAnswer(object({ name: string, about: string }))

/** What became of a document. */
const importAction = oneOf('created', 'changed', 'unchanged', 'kept', 'removed')

export const importedDocuments = list(object({ id: string, source: string, path: string, action: importAction }))

/** What an import did not carry, and what it asks its author. */
export const importNotes = {
  lost: list(object({ at: string, what: string, authority: boolean })),
  questions: list(object({ path: string, what: string })),
}

export const importAnswer = object({
  namespace: string,
  record: string,
  url: string,
  documents: list(
    object({
      tool: string,
      operation: string,
      path: string,
      action: importAction,
    }),
  ),
  ...importNotes,
})

/** `import openapi --list`. */
export const importListAnswer = listAnswer(
  object({ operation: string, tool: string, tags: list(string), summary: string }),
)

/** `import claude` and its like. */
export const agentImportAnswer = object({
  namespace: string,
  record: string,
  documents: importedDocuments,
  ...importNotes,
  variables: list(string),
})

/** `import claude --list` and its like. */
export const agentImportListAnswer = listAnswer(
  object({ agent: string, source: string, tools: integer, purpose: string }),
)

export const mcpImportAnswer = object({
  namespace: string,
  record: string,
  documents: list(
    object({
      tool: string,
      source: string,
      path: string,
      action: importAction,
    }),
  ),
  ...importNotes,
  /** Of an agent that calls the tools. */
  bindings: object({ tools: list(anyObject), mcp_servers: list(anyObject), secrets: anyObject }),
})

/** `import mcp --list`. */
export const mcpImportListAnswer = listAnswer(
  object({ server: string, tool: string, hint: nullable(string), description: string }),
)

export const demoResult = object({
  type: oneOf('result'),
  runId: string,
  status: string,
  output: anyValue,
  totalTokensUsed: integer,
})

const place = object({ line: integer, column: integer, offset: integer })
const range = object({ start: place, end: place })

export const lintAnswer = object({
  ok: boolean,
  files: integer,
  errors: integer,
  warnings: integer,
  fixable: integer,
  diagnostics: list(
    object({
      rule: string,
      severity: oneOf('error', 'warning', 'info'),
      message: string,
      why: optional(string),
      fix: optional(
        object({
          description: string,
          edits: list(object({ path: string, range, text: string })),
          unsafe: optional(boolean),
        }),
      ),
      path: string,
      pointer: string,
      range,
      related: list(object({ path: string, range, message: string })),
      docs: string,
    }),
  ),
})

export const fmtAnswer = object({ changed: list(string), unchanged: integer })

const summaryFields = {
  root: nullable(string),
  digest: string,
  boundaries: list(object({ agent: string, boundary: string, policies: list(string) })),
  policies: list(
    object({
      id: string,
      version: string,
      scope: nullable(string),
      decision: string,
      conditionHash: nullable(string),
      source: anyValue,
    }),
  ),
  bindings: list(object({ agent: string, tool: string, chain: anyValue, default: string })),
  unmatched: list(object({ agent: string, boundary: string })),
}

/** The summary of a closure, with the members that `--explain` and `--matrix` add. */
export const compileAnswer: TypedSchema<CompileSummary> = object({
  ...summaryFields,
  explained: optional(anyValue),
  matrix: optional(list(object({ agent: string, rows: anyValue }))),
})

export const policyTestAnswer = object({
  ok: boolean,
  passed: integer,
  failed: integer,
  coverage: object({
    percent: number,
    policies: list(object({ id: string, nodes: integer, covered: integer, leaves: anyValue })),
  }),
  cases: list(
    object({
      name: string,
      file: string,
      ok: boolean,
      expected: anyValue,
      actual: anyValue,
      trace: anyValue,
      failure: list(string),
    }),
  ),
})

/** A decision and why it is so. */
const decisionFields = {
  decision: string,
  reason: nullable(string),
  explanation: nullable(string),
  message: nullable(string),
  approvalsRequired: nullable(integer),
  timeout: nullable(anyObject),
  by: nullable(
    object({ policy: string, version: nullable(string), pointer: nullable(string), source: nullable(string) }),
  ),
  trace: list(
    object({
      policy: string,
      node: string,
      op: string,
      left: anyValue,
      right: anyValue,
      result: anyValue,
      source: nullable(string),
    }),
  ),
  considered: list(
    object({
      policy: string,
      version: nullable(string),
      decision: string,
      result: anyValue,
      fired: boolean,
      source: nullable(string),
    }),
  ),
  wouldChange: anyValue,
  error: optional(anyValue),
}

export const policyEvalAnswer = object({
  ...decisionFields,
  invalid: list(object({ path: string, message: string })),
})

export const policyCanAnswer = object({
  can: oneOf('never', 'yes', 'not_proven'),
  witness: optional(object({ arguments: anyValue, context: anyObject, decision: string })),
  by: list(string),
})

const recordedDecision = object({
  ...decisionFields,
  tool: string,
  policies: list(anyValue),
  runId: string,
  toolCallId: string,
  argsDigest: string,
  recordedAt: string,
  assumed: optional(list(string)),
})

export const explainedTask = recordedDecision
export const explainRun = object({ runId: string, items: list(recordedDecision) })
export const explainReference: TypedSchema<ConsideredPolicies> = object({ ref: string, considered: list(anyValue) })

export const backtestAnswer = object({
  calls: integer,
  flips: list(
    object({
      runId: string,
      toolCallId: string,
      tool: string,
      was: string,
      now: string,
      by: nullable(string),
      assumed: optional(list(string)),
    }),
  ),
  assumed: optional(list(string)),
})

export const testAnswer = object({
  ok: boolean,
  passed: integer,
  failed: integer,
  cases: list(
    object({
      name: string,
      file: string,
      ok: boolean,
      expected: anyObject,
      actual: nullable(object({ status: string, output: anyValue, error: nullable(string) })),
      trace: list(string),
      differences: list(anyValue),
      undecided: list(anyValue),
      events: list(anyValue),
      virtualMs: number,
      ms: number,
    }),
  ),
  runs: list(object({ file: string, runId: string, sessionId: string, status: string, totalTokensUsed: integer })),
})

export const treeAnswer: TypedSchema<BundleTree> = object({
  root: nullable(string),
  nodes: list(
    object({
      id: nullable(string),
      kind: string,
      version: nullable(string),
      path: nullable(string),
      origin: string,
      digest: nullable(string),
    }),
  ),
  edges: list(
    object({
      from: string,
      to: string,
      kind: string,
      version: nullable(string),
      lateBound: boolean,
      requested: optional(string),
    }),
  ),
})

const part = object({
  'bom-ref': string,
  type: string,
  group: optional(string),
  name: string,
  version: optional(string),
  description: optional(string),
  hashes: optional(list(object({ alg: string, content: string }))),
  properties: optional(list(object({ name: string, value: string }))),
})

/** A CycloneDX 1.6 document. */
export const partsAnswer = object({
  $schema: string,
  bomFormat: string,
  specVersion: string,
  version: integer,
  metadata: object({ component: part }),
  components: list(part),
  services: list(
    object({
      'bom-ref': string,
      name: string,
      endpoints: list(string),
      authenticated: boolean,
      properties: list(object({ name: string, value: string })),
    }),
  ),
  dependencies: list(object({ ref: string, dependsOn: list(string) })),
})

export const packAnswer = object({ file: string, size: integer, digest: string, documents: integer, signed: integer })

export const verifyAnswer = object({
  ok: boolean,
  file: string,
  digest: string,
  documents: integer,
  root: nullable(string),
  closureDigest: string,
})

export const reachedHostsAnswer = listAnswer(object({ host: string, port: integer, for: list(string) }))

export const explainAnswer = object({
  term: string,
  kind: oneOf('rule', 'status', 'hold', 'exit', 'class', 'decision', 'document', 'fact', 'field', 'operator', 'task'),
  text: string,
})
