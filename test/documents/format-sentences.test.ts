/** What the authoring format says across fields and files, sentence by sentence: a document that keeps to it, and one that does not. */
import { describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'

/** The rules that find an error. */
const errorsOf = (files: Readonly<Record<string, string>>): string[] =>
  lintWorkspace(loadFiles(complete(files)))
    .filter(({ severity }) => severity === 'error')
    .map(({ rule }) => rule)

type Row = readonly [sentence: string, files: Readonly<Record<string, string>>, ...errors: string[]]

const agent = (spec: string, beside = ''): Record<string, string> => ({
  'agent.yaml': `kind: Agent\n${beside}spec: { ${spec} }\n`,
})
const metadata = (written: string): Record<string, string> => ({
  'tool.yaml': `kind: Tool\nmetadata: { ${written} }\n`,
})
const policy = (spec: string): Record<string, string> => ({ 'policy.yaml': `kind: Policy\nspec: { ${spec} }\n` })
const tool = { 'tool.yaml': 'kind: Tool\n' }
const bundle = { 'bundle.yaml': 'kind: Bundle\n' }
const child = { 'agents/child.yaml': 'kind: Agent\nmetadata: { name: child }\n' }

const model = (written: string, secrets = ''): Record<string, string> => agent(`model: { ${written} }`, secrets)
const VENDOR = 'secrets: { vendor_a: { fromEnv: VENDOR_A_KEY } }\n'
const baseUrl = (url: string): Record<string, string> =>
  model(
    `provider: vendor_b-compatible, name: m, secret: key, base_url: '${url}'`,
    'secrets: { key: { fromEnv: VENDOR_B_KEY } }\n',
  )
const toolRef = (ref: string): Record<string, string> => ({
  ...tool,
  ...agent(`tools: [{ ref: '${ref}' }], limits: { max_loop_iterations: 5 }`),
})
const childRef = (written: string): Record<string, string> => ({
  ...bundle,
  ...child,
  ...agent(`agents: [{ ${written} }]`),
})
const server = (written: string, mcp = 'web'): Record<string, string> => ({
  ...tool,
  ...agent(
    `tools: [{ ref: pay.refund@^1, mcp: { server: ${mcp} } }], mcp_servers: [${written}]`,
    'secrets: { web-key: { fromEnv: WEB_KEY } }\n',
  ),
})

const all: Row[] = [
  // What the service does, Common
  [
    'Exactly one of four document kinds is valid per document',
    { 'x.yaml': 'apiVersion: svc/v1\nkind: Workflow\nmetadata: {}\nspec: {}\n' },
    'doc/kind-unknown',
  ],
  [
    'The kind is written as in the tables',
    { 'x.yaml': 'apiVersion: svc/v1\nkind: tool\nmetadata: { name: a, namespace: b, version: 1.0.0 }\nspec: {}\n' },
    'doc/kind-unknown',
  ],
  ['`name` is unique within `namespace`: two of one name', { ...tool, 'other.yaml': 'kind: Tool\n' }, 'id/duplicate'],
  [
    '`name` is unique within `namespace`: another name',
    { ...tool, 'other.yaml': 'kind: Tool\nmetadata: { name: wire }\n' },
  ],
  [
    '`name` is unique within `namespace`: another namespace',
    { ...tool, 'other.yaml': 'kind: Tool\nmetadata: { namespace: claims }\n' },
  ],
  [
    '`name` is unique within `namespace`: another kind may have it',
    { ...tool, ...policy('decision: { type: deny }'), 'other.yaml': 'kind: Policy\nmetadata: { name: refund }\n' },
  ],
  ...['1.0.0', '0.1.0', '10.20.30', '1.0.0-rc.1', '1.0.0+build.5', '1.0.0-alpha+1'].map((version): Row => [
    `\`version\` is a semver release label: ${version}`,
    metadata(`version: '${version}'`),
  ]),
  ...['1', '1.0', 'v1.0.0', '1.0.0.0', '01.0.0', '1.0.0-', 'latest', '^1.0.0', ' 1.0.0'].map((version): Row => [
    `\`version\` is a semver release label: not ${JSON.stringify(version)}`,
    metadata(`version: '${version}'`),
    'id/invalid-semver',
  ]),
  ['`namespace` is the addressing boundary: it may have dots', metadata('namespace: pay.cards')],
  ['`namespace` is the addressing boundary: no @', metadata("namespace: 'pay@home'"), 'id/unaddressable'],

  // Instructions
  [
    'Instructions of a file are bundle-relative',
    { ...agent('instructions: { ref: prompts/system.md }'), 'prompts/system.md': 'Help.\n' },
  ],
  [
    'Instructions of a file are there',
    agent('instructions: { ref: prompts/system.md }'),
    'agent/instructions-missing-file',
  ],
  ...['/etc/passwd', '../outside.md', 'a/../../b.md', String.raw`a\b.md`].map((ref): Row => [
    `Instructions of a file are bundle-relative: not ${ref}`,
    agent(`instructions: { ref: '${ref}' }`),
    'bundle/path-escape',
  ]),
  [
    '`version` applies with `ref`',
    { ...agent('instructions: { ref: prompts/system.md, version: 2 }'), 'prompts/system-2.md': 'Help.\n' },
  ],

  // Model
  ...['https://llm.example/v1', 'http://localhost:11434/v1', 'HTTPS://llm.example', 'http://[::1]:8080/v1'].map(
    (url): Row => [`\`base_url\` is an absolute http or https URL: ${url}`, baseUrl(url)],
  ),
  ...['localhost:8080/v1', '/v1', 'llm.example/v1', 'ftp://llm.example', 'http://', 'http:/llm.example', 'v1'].map(
    (url): Row => [`\`base_url\` is an absolute http or https URL: not ${url}`, baseUrl(url), 'model/base-url-invalid'],
  ),
  ['`model.secret` is a key in `secrets`', model('provider: vendor_a, name: m, secret: vendor_a', VENDOR)],
  [
    '`model.secret` is a key in `secrets`: not another',
    model('provider: vendor_a, name: m, secret: vendor_b', VENDOR),
    'model/secret-undeclared',
  ],
  [
    '`model.secret` may be omitted when a secret named after the provider exists',
    model('provider: vendor_a, name: m', VENDOR),
  ],
  [
    '`model.secret` may not be omitted when there is none',
    model('provider: vendor_a, name: m'),
    'model/secret-implicit-missing',
  ],
  [
    '`fromEnv` is the name of a variable, never a value',
    model(
      'provider: vendor_a, name: m',
      "secrets: { vendor_a: { fromEnv: 'sk-ant-api03-Zx81mQp4Lr7TnV2bWc9Yd5Ke' } }\n",
    ),
    'secret/value-in-from-env',
  ],

  // Tools
  ...[
    'pay.refund',
    'pay.refund@1.0.0',
    'pay.refund@^1.0',
    'pay.refund@~1.0.0',
    'pay.refund@>=1 <2',
    'pay.refund@1.x || ^2',
    'pay.refund@*',
  ].map((ref): Row => [`A tool ref is a logical id with an optional semver constraint: ${ref}`, toolRef(ref)]),
  ...['refund', 'pay.', '.refund', 'pay refund', 'pay/refund', '@1.0.0', 'tools/refund.yaml'].map((ref): Row => [
    `A tool ref is a logical id with an optional semver constraint: not ${ref}`,
    toolRef(ref),
    'tool/ref-syntax',
  ]),
  ...['pay.refund@', 'pay.refund@banana', 'pay.refund@^1..3'].map((ref): Row => [
    `The constraint of a tool ref is semver: not ${ref}`,
    toolRef(ref),
    'tool/range-invalid',
  ]),
  ['The version is pinned in the ref: one that exists', toolRef('pay.refund@1.0.0')],
  ['The version is pinned in the ref: one that does not', toolRef('pay.refund@2.0.0'), 'tool/unresolved'],

  // MCP servers
  ['`mcp.server` is the name of an entry of `spec.mcp_servers`', server('{ name: web, url: https://mcp.example/ }')],
  [
    '`mcp.server` is the name of an entry: not another',
    server('{ name: web, url: https://mcp.example/ }', 'wbe'),
    'mcp/server-undeclared',
  ],
  [
    'A server name is unique within the agent',
    server('{ name: web, url: https://mcp.example/ }, { name: web, url: https://mcp.example/b }'),
    'mcp/server-duplicate',
  ],
  ['`url` is an HTTPS endpoint', server('{ name: web, url: http://mcp.example/ }'), 'mcp/url-not-https'],
  [
    '`auth.secret` is a key in `secrets`',
    server('{ name: web, url: https://mcp.example/, auth: { scheme: bearer, secret: web-key } }'),
  ],
  [
    '`auth.secret` is a key in `secrets`: not another',
    server('{ name: web, url: https://mcp.example/, auth: { scheme: bearer, secret: nobody } }'),
    'secret/undeclared',
  ],
  [
    '`header` is a named custom header',
    server('{ name: web, url: https://mcp.example/, auth: { scheme: header, secret: web-key, header: X-Api-Key } }'),
  ],
  [
    '`header` is a named custom header: no name of one',
    server("{ name: web, url: https://mcp.example/, auth: { scheme: header, secret: web-key, header: 'X Api: Key' } }"),
    'mcp/header-invalid',
  ],

  // Sub-agents
  ['A sub-agent is a bundle-local path', childRef('ref: agents/child.yaml')],
  ['A sub-agent is floating when `late_bound` is true', childRef('ref: ops.notifier, late_bound: true')],
  ['A sub-agent is not floating otherwise', childRef('ref: ops.notifier'), 'bundle/external-unpinned'],
  ['A late-bound sub-agent has no path', childRef('ref: agents/child.yaml, late_bound: true'), 'subagent/ref-form'],
  ['A late-bound sub-agent has no version', childRef('ref: ops.notifier@1.0.0, late_bound: true'), 'subagent/ref-form'],
  ['A sub-agent is pinned by a version, not by a constraint', childRef('ref: ops.notifier@^1.0'), 'subagent/range'],
  ['A path leads to an Agent', { ...bundle, ...tool, ...agent('agents: [{ ref: tool.yaml }]') }, 'subagent/missing'],
  [
    'Delegation must be published via a Bundle',
    { ...child, ...agent('agents: [{ ref: agents/child.yaml }]') },
    'agent/needs-bundle',
  ],

  // Policies
  [
    '`scope` is `tool:<namespace.name>`',
    { ...toolRef('pay.refund@^1'), ...policy('scope: tool:pay.refund, decision: { type: deny }') },
  ],
  ...[
    'pay.refund',
    'tool:refund',
    'tool:',
    'tools:pay.refund',
    'agent:pay.desk',
    'tool:pay.refund@1.0.0',
    'tool:*',
  ].map((scope): Row => [
    `\`scope\` is \`tool:<namespace.name>\`: not ${scope}`,
    policy(`scope: '${scope}', decision: { type: deny }`),
    'policy/scope-syntax',
  ]),
  [
    'An attachment by id leads to a Policy',
    { ...policy('decision: { type: deny }'), ...agent('default_policies: [pay.limit]') },
  ],
  [
    'An attachment by id leads to a Policy: not to nothing',
    agent('default_policies: [pay.limit]'),
    'policy/attachment-missing',
  ],
  [
    'An attachment by path leads to a Policy',
    { ...policy('decision: { type: deny }'), ...agent('default_policies: [{ ref: policy.yaml }]') },
  ],
  [
    'An attachment by path leads to a Policy: not to a Tool',
    { ...tool, ...agent('default_policies: [{ ref: tool.yaml }]') },
    'policy/attachment-missing',
  ],
  [
    '`allow` is of policies whose type is `allow`',
    policy("scope: tool:pay.refund, allow: ['EUR'], decision: { type: deny }"),
    'policy/allow-without-type',
  ],
  ...['all', 'any'].map((key): Row => [
    `Interior nodes use \`${key}\``,
    policy(`conditions: { ${key}: [{ field: args.amount, op: gt, value: 5 }] }, decision: { type: deny }`),
  ]),
  [
    'Interior nodes use `not`',
    policy('conditions: { not: { field: args.amount, op: gt, value: 5 } }, decision: { type: deny }'),
  ],
  [
    'Interior nodes use `all`, `any`, or `not`: nothing else',
    policy('conditions: { none: [{ field: args.amount, op: gt, value: 5 }] }, decision: { type: deny }'),
    'policy/condition-syntax',
  ],
  [
    'Leaf nodes compare fields: a leaf without one',
    policy('conditions: { op: gt, value: 5 }, decision: { type: deny }'),
    'policy/condition-syntax',
  ],

  // Bundle
  ['`root` is the path of the root Agent', { ...bundle, 'agent.yaml': 'kind: Agent\n' }],
  [
    '`root` is the path of the root Agent: not of a Tool',
    { 'bundle.yaml': 'kind: Bundle\nspec: { root: tool.yaml }\n', ...tool },
    'bundle/root-missing',
  ],
  ['`root` is the path of the root Agent: not of nothing', bundle, 'bundle/root-missing'],
  [
    '`root` is bundle-relative',
    { 'bundle.yaml': 'kind: Bundle\nspec: { root: /agent.yaml }\n', 'agent.yaml': 'kind: Agent\n' },
    'bundle/root-missing',
  ],

  // Schemas
  [
    'A schema spec leads to a JSON Schema file',
    { 'tool.yaml': 'kind: Tool\nspec: { input_schema: { ref: in.json } }\n', 'in.json': '{"type":"object"}' },
  ],
  [
    'A schema spec leads to a JSON Schema file: not to nothing',
    { 'tool.yaml': 'kind: Tool\nspec: { input_schema: { ref: in.json } }\n' },
    'schema/ref-missing',
  ],
  [
    'A schema spec leads to a JSON Schema file: not to another JSON',
    { 'tool.yaml': 'kind: Tool\nspec: { input_schema: { ref: in.json } }\n', 'in.json': '{"type":"objekt"}' },
    'schema/invalid',
  ],
  [
    'An inline schema is a JSON Schema',
    { 'tool.yaml': 'kind: Tool\nspec: { input_schema: { inline: { type: object, required: 5 } } }\n' },
    'schema/invalid',
  ],
]

describe('a sentence across fields and files', () => {
  test('has a row of its own', () => {
    expect(new Set(all.map(([sentence]) => sentence)).size).toBe(all.length)
  })

  test.each(all.map((row) => [row[0], row] as const))('%s', (_, [, files, ...errors]) => {
    expect(errorsOf(files)).toEqual(errors)
  })
})

describe('a condition of another language is one finding, with what to write', () => {
  test.each([
    [
      '{ and: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "and". Did you mean `all`? Write all.',
    ],
    [
      '{ or: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "or". Did you mean `any`? Write any.',
    ],
    [
      '{ none: [{ field: args.amount, op: gt, value: 5 }] }',
      'A condition has no key "none". Write `not: { any: [ … ] }`, or `not: { all: [ … ] }`.',
    ],
    [
      '{ field: args.amount, gt: 5 }',
      'A comparison has no key "gt". Write `op: gt`, and what it compares with as `value`.',
    ],
    [
      '{ argument: args.amount, op: gt, value: 5 }',
      'A comparison has no key "argument". Did you mean `field`? Write field.',
    ],
  ])('%s', (conditions, expected) => {
    const files = policy(`conditions: ${conditions}, decision: { type: deny }`)
    const found = lintWorkspace(loadFiles(complete(files))).filter(({ severity }) => severity === 'error')
    expect(found.map(({ message, fix }) => `${message} ${fix?.description}`)).toEqual([expected])
  })
})
