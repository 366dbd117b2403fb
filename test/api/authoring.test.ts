/** The structure of the four kinds of documents, sentence by sentence. What is said of a faulty one is written out whole. */
import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { readDocuments } from '../../src/documents/workspace/read.ts'
import { decideByPolicies } from '../../src/policy/decide.ts'
import { agentOf, bundleOf, changed, DESK } from '../compile/make.ts'
import { boundAgent, inOrder, openBench, operator, reply, returns, snapshotOf, tool } from '../engine/bench.ts'
import { makeFacts } from '../policy/make.ts'
import { verifies } from './verifies.ts'

verifies('authoring.kinds', () => {
  for (const kind of KINDS) expectValid(kind, {})
  expectShapeFaults('Agent', [{ kind: 'Robot' }, 'kind must be Agent, Tool, Policy or Bundle, but is "Robot".'])
  expectShapeFaults('Agent', [{ kind: undefined }, '`kind` is missing: Agent, Tool, Policy or Bundle.'])
  expectShapeFaults('Agent', [
    { kind: 'Tool' },
    '`purpose` is not a key of spec. `instructions` is not a key of spec. `model` is not a key of spec.',
  ])
})

verifies('authoring.api-version', () => {
  for (const kind of KINDS)
    expectShapeFaults(
      kind,
      [{ apiVersion: 'svc/v2' }, 'apiVersion must be `svc/v1`, but is "svc/v2".'],
      [{ apiVersion: undefined }, '`apiVersion: svc/v1` is missing.'],
      [{ apiVersion: 1 }, 'apiVersion must be `svc/v1`, but is 1.'],
    )
})

verifies('authoring.unknown-properties', () => {
  for (const kind of KINDS)
    expectShapeFaults(
      kind,
      [{ banana: 1 }, '`banana` is not a key of the top level.'],
      [{ 'metadata.banana': 1 }, '`banana` is not a key of metadata.'],
      [{ 'spec.banana': 1 }, '`banana` is not a key of spec.'],
    )
  expectShapeFaults(
    'Agent',
    [{ 'spec.model.banana': 1 }, '`banana` is not a key of spec.model.'],
    [{ 'spec.limits.banana': 1 }, '`banana` is not a key of spec.limits.'],
    [{ 'output.banana': 1 }, '`banana` is not a key of output.'],
  )
  expectShapeFaults('Policy', [
    { 'spec.decision': { type: 'deny', banana: 1 } },
    '`banana` is not a key of spec.decision.',
  ])
  expectValid(
    'Policy',
    { 'spec.decision': { type: 'deny', runtime: { 'svc/x': [1] } } },
    { 'spec.conditions': { any: [] } },
  )
  expectValid('Agent', { 'spec.model.provider_options': { any: { thing: [1] } } })
})

verifies('authoring.identity', () => {
  for (const kind of KINDS)
    for (const name of ['name', 'namespace', 'version'])
      expectShapeFaults(
        kind,
        [{ [`metadata.${name}`]: undefined }, `metadata needs \`${name}\`.`],
        [{ [`metadata.${name}`]: '' }, `metadata.${name} must not be empty.`],
        [{ [`metadata.${name}`]: 1.5 }, `metadata.${name} must be a string, but 1.5 without quotes is a number.`],
      )
  expectLintErrors('Tool', [{ 'metadata.version': 'one' }, 'id/invalid-semver: "one" is not a semver version.'])
})

verifies('authoring.labels', () => {
  for (const kind of KINDS) {
    expectValid(kind, { 'metadata.labels': { team: 'claims' } })
    expectShapeFaults(kind, [
      { 'metadata.labels': { team: 1 } },
      'metadata.labels.team must be a string, but 1 without quotes is a number.',
    ])
  }
  expectValid('Agent', { 'metadata.annotations': { ticket: 'A-1' } })
  expectShapeFaults('Agent', [
    { 'metadata.annotations': { ticket: 1 } },
    'metadata.annotations.ticket must be a string, but 1 without quotes is a number.',
  ])
  expectShapeFaults('Bundle', [{ 'metadata.annotations': {} }, '`annotations` is not a key of metadata.'])
})

verifies('authoring.agent.fields', () => {
  expectValid('Agent', { secrets: {}, output: {}, 'metadata.owner': 'desk team' })
  expectShapeFaults(
    'Agent',
    [{ metadata: undefined }, 'The document needs `metadata`.'],
    [{ spec: undefined }, 'The document needs `spec`.'],
    [{ 'spec.purpose': undefined }, 'spec needs `purpose`.'],
    [{ 'spec.purpose': '' }, 'spec.purpose must not be empty.'],
    [{ 'spec.output': {} }, '`output` does not belong in spec but at the top level, beside `spec`.'],
  )
})

verifies('authoring.agent.governance', () => {
  expectValid(
    'Agent',
    { 'metadata.governance': {} },
    {
      'metadata.governance': {
        risk_tier: 'anything',
        authority_boundaries: ['refund-limit'],
        classifications: ['pii'],
        frameworks: { soc2: { any: [1] } },
      },
    },
  )
  expectShapeFaults(
    'Agent',
    [
      { 'metadata.governance.authority_boundaries': [''] },
      'metadata.governance.authority_boundaries[0] must not be empty.',
    ],
    [
      { 'metadata.governance.classifications': [1] },
      'metadata.governance.classifications[0] must be a string, but 1 without quotes is a number.',
    ],
    [{ 'metadata.governance.tier': 'x' }, '`tier` is not a key of metadata.governance.'],
  )
})

verifies('authoring.agent.secrets', () => {
  const noName = (name: string) =>
    `"${name}" cannot be a name here. A secret name begins with a lower-case letter and has only lower-case letters, digits, \`_\` and \`-\`.`
  expectValid('Agent', { secrets: { 'a-b_c9': { fromEnv: 'KEY' } } })
  expectShapeFaults(
    'Agent',
    [{ secrets: { Key: { fromEnv: 'KEY' } } }, noName('Key')],
    [{ secrets: { '9key': { fromEnv: 'KEY' } } }, noName('9key')],
    [{ secrets: { key: { fromEnv: '' } } }, 'secrets.key.fromEnv must not be empty.'],
    [{ secrets: { key: { value: 'x' } } }, '`value` is not a key of secrets.key, which needs `fromEnv`.'],
    [{ secrets: { key: 'x' } }, 'secrets.key must be a mapping, but is a string.'],
  )
})

verifies('authoring.agent.instructions', () => {
  expectValid(
    'Agent',
    { 'spec.instructions': { ref: 'a.md' } },
    { 'spec.instructions': { ref: 'a.md', version: 'r2' } },
    { 'spec.instructions': { ref: 'a.md', version: 2 } },
  )
  expectShapeFaults(
    'Agent',
    [{ 'spec.instructions': undefined }, 'spec needs `instructions`.'],
    [{ 'spec.instructions': {} }, 'spec.instructions needs exactly one of `ref` or `text`.'],
    [{ 'spec.instructions': { ref: 'a.md', text: 'x' } }, 'spec.instructions has more than one of `ref` or `text`.'],
    [{ 'spec.instructions': { text: '' } }, 'spec.instructions.text must not be empty.'],
    [{ 'spec.instructions': { ref: '' } }, 'spec.instructions.ref must not be empty.'],
  )
})

verifies('authoring.agent.purpose', async () => {
  const seen: string[] = []
  const bench = await openBench({
    agents: [{ ...snapshotOf({ name: 'root' }), purpose: 'A sentence for people.' }],
    models: { root: (request) => (seen.push(JSON.stringify([request.system, request.messages])), 'Done.') },
  })
  await bench.waitForEnd(await bench.start('root'))
  expect(seen.filter((text) => text.includes('A sentence for people.'))).toEqual([])
  expect(seen[0]).toContain('You are a test.')
})

verifies('authoring.agent.model', () => {
  expectValid('Agent', { 'spec.model': { provider: 'any-other', name: 'm' } })
  expectShapeFaults(
    'Agent',
    [{ 'spec.model': { name: 'm' } }, 'spec.model needs `provider`.'],
    [{ 'spec.model': { provider: '', name: 'm' } }, 'spec.model.provider must not be empty.'],
    [{ 'spec.model': { provider: 'vendor_a' } }, 'spec.model needs `name`.'],
    [{ 'spec.model': { provider: 'vendor_a', name: '' } }, 'spec.model.name must not be empty.'],
  )
})

verifies('authoring.agent.base-url', () => {
  const model = (provider: string, base_url?: string) => ({
    'spec.model': { provider, name: 'm', ...(base_url !== undefined && { base_url }) },
  })
  const secrets = { 'vendor_b-compatible': { fromEnv: 'KEY' } }
  const foreign = '`base_url` belongs to openai-compatible providers only.'
  expectValid(
    'Agent',
    model('vendor_b-compatible', 'https://llm.example/v1'),
    model('openai-compatible', 'http://127.0.0.1'),
  )
  expectShapeFaults(
    'Agent',
    [model('vendor_b-compatible'), '`base_url` is missing: an openai-compatible provider has no address of its own.'],
    [model('vendor_b', 'https://llm.example/v1'), foreign],
    [model('any-other', 'https://llm.example/v1'), foreign],
  )
  expectLintErrors(
    'Agent',
    [{ ...model('vendor_b-compatible', 'https://llm.example/v1'), secrets }, ''],
    [
      { ...model('vendor_b-compatible', 'llm.example'), secrets },
      'model/base-url-invalid: "llm.example" is not an absolute http or https URL.',
    ],
    [
      { ...model('vendor_b-compatible', 'ftp://llm.example'), secrets },
      'model/base-url-invalid: "ftp://llm.example" is not an absolute http or https URL.',
    ],
  )
})

verifies('authoring.agent.model-secret', () => {
  const model = { provider: 'vendor_a', name: 'm' }
  const key = { fromEnv: 'KEY' }
  expectLintErrors(
    'Agent',
    [{ secrets: { key }, 'spec.model': { ...model, secret: 'key' } }, ''],
    [{ secrets: { vendor_a: key }, 'spec.model': model }, ''],
    [
      { 'spec.model': model },
      'model/secret-implicit-missing: No secret for the provider "vendor_a": neither `model.secret` nor a secret named "vendor_a" is there.',
    ],
    [
      { secrets: { key }, 'spec.model': { ...model, secret: 'kex' } },
      'model/secret-undeclared: No secret "kex" is declared. Did you mean "key"?',
    ],
  )
  expectShapeFaults('Agent', [
    { 'spec.model': { ...model, secret: 'Key' } },
    'spec.model.secret is not a secret name, which begins with a lower-case letter and has only lower-case letters, digits, `_` and `-`.',
  ])
})

verifies('authoring.agent.parameters', () => {
  const parameters = (value: JsonObject) => ({ 'spec.model.parameters': value })
  expectValid(
    'Agent',
    parameters({ temperature: 0.5, max_output_tokens: 100, stop_sequences: ['END'] }),
    parameters({ top_p: 1 }),
  )
  expectShapeFaults(
    'Agent',
    [parameters({ temperature: 0.5, top_p: 1 }), '`temperature` and `top_p` must not both be set.'],
    [
      parameters({ max_output_tokens: 1.5 }),
      'spec.model.parameters.max_output_tokens must be an integer, but is a number.',
    ],
    [parameters({ stop_sequences: 'END' }), 'spec.model.parameters.stop_sequences must be a list, but is a string.'],
    [parameters({ temperature: '0' }), 'spec.model.parameters.temperature must be a number, but is a string.'],
  )
})

verifies('authoring.agent.parameters-passed', async () => {
  const seen: unknown[] = []
  const root = snapshotOf({ name: 'root', tools: [tool('look')] })
  const bench = await openBench({
    agents: [{ ...root, model: { ...root.model, parameters: { temperature: 0.5, max_output_tokens: 100 } } }],
    models: {
      root: (request) => {
        seen.push(request.model.parameters)
        return request.run.turn === 1 ? { calls: [{ name: 'look' }] } : 'Done.'
      },
    },
    tools: { look: () => returns('seen') },
  })
  await bench.waitForEnd(await bench.start('root'))
  expect(seen).toEqual([
    { temperature: 0.5, max_output_tokens: 100 },
    { temperature: 0.5, max_output_tokens: 100 },
  ])
})

verifies('authoring.agent.effort', () => {
  for (const effort of ['low', 'medium', 'high']) expectValid('Agent', { 'spec.model.reasoning': { effort } })
  expectShapeFaults('Agent', [
    { 'spec.model.reasoning': { effort: 'max' } },
    'spec.model.reasoning.effort must be one of `low`, `medium`, `high`, but is "max".',
  ])
})

verifies('authoring.agent.output', async () => {
  expectValid('Agent', { output: { format: 'text' } })
  for (const on_invalid of ['retry', 'repair', 'escalate', 'fail'])
    expectValid('Agent', {
      output: { format: 'json', schema: { inline: { type: 'object' } }, strict: true, on_invalid },
    })
  expectShapeFaults(
    'Agent',
    [{ output: { format: 'xml' } }, 'output.format must be one of `text`, `json`, but is "xml".'],
    [
      { output: { on_invalid: 'ignore' } },
      'output.on_invalid must be one of `retry`, `repair`, `escalate`, `fail`, but is "ignore".',
    ],
    [{ output: { strict: 'yes' } }, 'output.strict must be true or false; YAML 1.2 reads `yes` as text.'],
  )
  expect(agentOf(await bundleOf(DESK), 'acme.desk').output.format).toBe('text')
})

verifies('authoring.agent.default-policies', async () => {
  const { policies } = agentOf(await bundleOf(DESK), 'acme.desk')
  const ceiling = policies.entries.find(({ policy }) => policy === 'acme.ceiling')!.id
  expect(['lookup', 'refunds'].map((wire) => policies.index[wire]!.includes(ceiling))).toEqual([true, true])
})

verifies('authoring.schema-spec', () => {
  for (const place of ['spec.input_schema', 'spec.output_schema']) {
    expectValid(
      'Tool',
      { [place]: { ref: 'a.json' } },
      { [place]: { ref: 'a.json', version: 3 } },
      { [place]: { ref: 'a.json', version: 'r3' } },
      { [place]: { inline: { type: 'object' } } },
    )
    expectShapeFaults(
      'Tool',
      [
        { [place]: { ref: 'a.json', inline: { type: 'object' } } },
        `${place} has more than one of \`ref\` or \`inline\`.`,
      ],
      [{ [place]: {} }, `${place} needs exactly one of \`ref\` or \`inline\`.`],
      [{ [place]: { inline: {} } }, `${place}.inline must not be empty.`],
      [{ [place]: { ref: '' } }, `${place}.ref must not be empty.`],
    )
  }
})

verifies('authoring.policy-attachment', () => {
  const attached = (...each: JsonValue[]) => ({ 'spec.default_policies': each })
  expectValid('Agent', attached('acme.limit', { ref: 'policies/limit.yaml' }))
  expectShapeFaults(
    'Agent',
    [attached(''), 'spec.default_policies[0] must not be empty.'],
    [attached({}), 'spec.default_policies[0] needs `ref`.'],
    [attached({ ref: '' }), 'spec.default_policies[0].ref must not be empty.'],
    [attached({ ref: 'a.yaml', banana: 1 }), '`banana` is not a key of spec.default_policies[0].'],
    [attached(1), 'spec.default_policies[0] must be a string, but 1 without quotes is a number.'],
  )
})

const withToolBinding = (given: JsonObject) => ({ 'spec.tools': [{ ref: 'acme.pay@^1', ...given }] })

verifies('authoring.tool-binding', () => {
  expectValid(
    'Agent',
    withToolBinding({
      as: 'pay',
      description: 'Pays.',
      input_schema: { inline: { type: 'object' } },
      side_effect_class: 'irreversible_action',
      mcp: { server: 'crm', tool: 'pay' },
      policies: ['acme.limit', { ref: 'policies/limit.yaml' }],
    }),
  )
  expectShapeFaults(
    'Agent',
    [{ 'spec.tools': [{}] }, 'spec.tools[0] needs `ref`.'],
    [withToolBinding({ ref: '' }), 'spec.tools[0].ref must not be empty.'],
    [withToolBinding({ as: '' }), 'spec.tools[0].as must not be empty.'],
    [withToolBinding({ mcp: {} }), 'spec.tools[0].mcp needs `server`.'],
    [withToolBinding({ mcp: { server: 'crm', tool: '' } }), 'spec.tools[0].mcp.tool must not be empty.'],
    [withToolBinding({ mcp: { server: 'crm', banana: 1 } }), '`banana` is not a key of spec.tools[0].mcp.'],
  )
})

verifies('authoring.tool-binding.forbidden', () => {
  for (const key of ['name', 'version', 'parameters', 'policy', 'agent'])
    expectShapeFaults('Agent', [withToolBinding({ [key]: 'x' }), `A tool binding must not set \`${key}\`.`])
})

verifies('authoring.tool-binding.version', async () => {
  const refunds = DESK['tools/refunds.yaml']!
  const files = { ...DESK, 'tools/refunds-1.3.yaml': refunds.replace('1.0.0', '1.3.0') }
  const bound = async (ref: string) =>
    agentOf(await bundleOf(changed(files, 'agents/desk.yaml', 'acme.refunds@^1.0', ref)), 'acme.desk').tools[1]!.version
  expect(await bound('acme.refunds@^1.0')).toBe('1.3.0')
  expect(await bound('acme.refunds@1.0.0')).toBe('1.0.0')
})

verifies('authoring.side-effect-class', () => {
  for (const side_effect_class of ['read_only', 'idempotent_write', 'non_idempotent_write', 'irreversible_action']) {
    expectValid('Tool', { 'spec.side_effect_class': side_effect_class })
    expectValid('Agent', withToolBinding({ side_effect_class }))
  }
  expectShapeFaults('Tool', [
    { 'spec.side_effect_class': 'write' },
    'spec.side_effect_class must be one of `read_only`, `idempotent_write`, `non_idempotent_write`, `irreversible_action`, but is "write".',
  ])
})

const withMcpServer = (given: JsonObject) => ({
  'spec.mcp_servers': [{ name: 'crm', url: 'https://crm.example/mcp', ...given }],
})

verifies('authoring.mcp-server', () => {
  expectValid('Agent', withMcpServer({}), withMcpServer({ transport: 'streamable_http' }))
  expectShapeFaults(
    'Agent',
    [withMcpServer({ transport: 'stdio' }), 'spec.mcp_servers[0].transport must be `streamable_http`, but is "stdio".'],
    [withMcpServer({ name: '' }), 'spec.mcp_servers[0].name must not be empty.'],
    [withMcpServer({ url: '' }), 'spec.mcp_servers[0].url must not be empty.'],
    [{ 'spec.mcp_servers': [{ name: 'crm' }] }, 'spec.mcp_servers[0] needs `url`.'],
  )
  expectLintErrors(
    'Agent',
    [withMcpServer({ url: 'http://crm.example/mcp' }), 'mcp/url-not-https: "http://crm.example/mcp" is not https.'],
    [
      {
        'spec.mcp_servers': [
          { name: 'crm', url: 'https://a.example' },
          { name: 'crm', url: 'https://b.example' },
        ],
      },
      'mcp/server-duplicate: An MCP server "crm" is declared more than once.',
    ],
    [
      { ...withMcpServer({}), ...withToolBinding({ mcp: { server: 'crn' } }) },
      'mcp/server-undeclared: No MCP server "crn" is declared. Did you mean "crm"?',
    ],
  )
})

verifies('authoring.mcp-server.auth', () => {
  const auth = (given: JsonObject) => withMcpServer({ auth: given })
  expectValid(
    'Agent',
    auth({ scheme: 'bearer', secret: 'key' }),
    auth({ scheme: 'header', secret: 'key', header: 'X-Key' }),
  )
  expectShapeFaults(
    'Agent',
    [
      auth({ scheme: 'header', secret: 'key' }),
      '`header` is missing: with `scheme: header` the secret is sent in the header that is named.',
    ],
    [
      auth({ scheme: 'basic', secret: 'key' }),
      'spec.mcp_servers[0].auth.scheme must be one of `bearer`, `header`, `client_credentials`, `authorization_code`, but is "basic".',
    ],
    [auth({ scheme: 'bearer' }), 'spec.mcp_servers[0].auth needs `secret`.'],
    [auth({ secret: 'key' }), 'spec.mcp_servers[0].auth needs `scheme`.'],
    [auth({ scheme: 'bearer', secret: '' }), 'spec.mcp_servers[0].auth.secret must not be empty.'],
  )
  expectLintErrors(
    'Agent',
    [{ ...auth({ scheme: 'bearer', secret: 'key' }), secrets: { key: { fromEnv: 'KEY' } } }, ''],
    [auth({ scheme: 'bearer', secret: 'key' }), 'secret/undeclared: No secret "key" is declared.'],
  )
})

const withSubAgent = (given: JsonObject) => ({ 'spec.agents': [{ ref: 'agents/clerk.yaml', ...given }] })

verifies('authoring.agent-binding', () => {
  const alone =
    'agent/needs-bundle: An Agent with sub-agents needs a Bundle: there is no Bundle document in its directory or above.'
  expectValid(
    'Agent',
    withSubAgent({
      as: 'ask',
      description: 'Asks.',
      input_schema: { inline: { type: 'object' } },
      result: 'full',
      policies: ['acme.limit'],
      late_bound: false,
    }),
  )
  expectShapeFaults(
    'Agent',
    [{ 'spec.agents': [{}] }, 'spec.agents[0] needs `ref`.'],
    [withSubAgent({ ref: '' }), 'spec.agents[0].ref must not be empty.'],
    [withSubAgent({ result: 'all' }), 'spec.agents[0].result must be one of `summary`, `full`, but is "all".'],
    [
      withSubAgent({ late_bound: 'yes' }),
      'spec.agents[0].late_bound must be true or false; YAML 1.2 reads `yes` as text.',
    ],
  )
  expectLintErrors(
    'Agent',
    [withSubAgent({ ref: 'acme.clerk@1.0.0' }), alone],
    [withSubAgent({ ref: 'acme.clerk', late_bound: true }), alone],
    [
      withSubAgent({ ref: 'acme.clerk' }),
      `${alone} bundle/external-unpinned: acme.clerk is not in this project, and the reference names no version.`,
    ],
    [
      withSubAgent({ ref: 'acme.clerk@^1.0.0' }),
      `${alone} subagent/range: "^1.0.0" is not an exact version; a sub-agent is pinned.`,
    ],
  )
})

verifies('authoring.agent-binding.late-bound', async () => {
  const clerk = snapshotOf({ name: 'clerk' })
  const { version: _version, digest: _digest, ...late } = boundAgent(clerk, { lateBound: true })
  const bench = await openBench({
    agents: [snapshotOf({ name: 'root', agents: [late] }), clerk],
    models: {
      root: inOrder({ calls: [{ name: 'clerk', args: { message: 'Well?' } }] }, 'Done.'),
      clerk: () => 'The deployed one.',
    },
  })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const items = await bench.timeline(run)
  expect(items.find(({ type }) => type === 'SubAgentResult')?.content).toMatchObject({ output: 'The deployed one.' })
  const files = changed(
    DESK,
    'agents/desk.yaml',
    'ref: agents/clerk.yaml',
    'ref: acme.elsewhere\n      late_bound: true',
  )
  expect((await bundleOf(files)).agents.map(({ id }) => id)).toEqual(['acme.desk'])
})

verifies('authoring.agent-binding.result', async () => {
  const resultOf = async (result?: 'summary' | 'full') => {
    const clerk = snapshotOf({ name: 'clerk' })
    const bench = await openBench({
      agents: [snapshotOf({ name: 'root', agents: [boundAgent(clerk, result && { result })] }), clerk],
      models: {
        root: inOrder({ calls: [{ name: 'clerk', args: { message: 'Well?' } }] }, 'Done.'),
        clerk: () => 'Yes.',
      },
    })
    const run = await bench.start('root')
    await bench.waitForEnd(run)
    return (await bench.timeline(run)).find(({ type }) => type === 'SubAgentResult')!.content
  }
  const [summary, full] = [await resultOf('summary'), await resultOf('full')]
  expect([summary['output'], 'steps' in summary]).toEqual(['Yes.', false])
  expect([full['output'], Array.isArray(full['steps'])]).toEqual(['Yes.', true])
  expect(agentOf(await bundleOf(DESK), 'acme.desk').agents.map(({ result }) => result)).toEqual(['summary'])
})

verifies('authoring.tool.fields', () => {
  expectValid('Tool', {
    'spec.description': 'Pays.',
    'spec.side_effect_class': 'read_only',
    'spec.input_schema': { inline: { type: 'object' } },
    'spec.output_schema': { inline: { type: 'object' } },
    'spec.default_policies': ['acme.limit'],
  })
  expectShapeFaults(
    'Tool',
    [{ 'spec.default_policies': [''] }, 'spec.default_policies[0] must not be empty.'],
    [{ 'spec.default_policies': [{ ref: 'a.yaml' }] }, 'spec.default_policies[0] must be a string, but is a mapping.'],
    [{ 'spec.url': 'https://crm.example' }, '`url` is not a key of spec.'],
    [{ 'spec.command': ['pay'] }, '`command` is not a key of spec.'],
  )
})

verifies('authoring.policy.fields', () => {
  expectValid('Policy', {
    'spec.description': 'Above 100.',
    'spec.scope': 'tool:acme.pay',
    'spec.allow': ['EUR'],
    'spec.conditions': {},
    'spec.decision': { type: 'allow' },
  })
  expectShapeFaults(
    'Policy',
    [{ 'spec.allow': [''] }, 'spec.allow[0] must not be empty.'],
    [{ 'spec.conditions': [] }, 'spec.conditions must be a mapping, but is a list.'],
    [{ 'spec.scope': 1 }, 'spec.scope must be a string, but 1 without quotes is a number.'],
  )
})

verifies('authoring.policy.scope', async () => {
  const scoped = (scope: string) => ({ 'spec.scope': scope, 'spec.decision': { type: 'deny' } })
  expectLintErrors(
    'Policy',
    [scoped('tool:acme.pay'), ''],
    [
      scoped('acme.pay'),
      'policy/scope-syntax: "acme.pay" is no scope: a scope names one tool, as `tool:namespace.name`.',
    ],
    [
      scoped('agent:acme.pay'),
      'policy/scope-syntax: "agent:acme.pay" is no scope: a scope names one tool, as `tool:namespace.name`.',
    ],
  )
  // A policy that the whole agent has, for one of its tools.
  const files = changed(DESK, 'policies/ceiling.yaml', 'spec:\n', 'spec:\n  scope: tool:acme.refunds\n')
  const { policies } = agentOf(await bundleOf(files), 'acme.desk')
  const ceiling = policies.entries.find(({ policy }) => policy === 'acme.ceiling')!.id
  expect(['lookup', 'refunds'].map((wire) => policies.index[wire]!.includes(ceiling))).toEqual([false, true])
})

verifies('authoring.policy.decision', async () => {
  for (const type of ['allow', 'deny', 'require_approval', 'escalate', 'block'])
    expectValid('Policy', { 'spec.decision': { type } })
  expectValid('Policy', {
    'spec.decision': {
      type: 'require_approval',
      authority_ref: 'refund-limit',
      approvals_required: 2,
      reason: 'Above 100.',
      on_reject: 'return_to_agent',
      on_modify: 'revalidate',
      comprehension_required: true,
      runtime: { 'svc/message': 'Ask for less.' },
    },
  })
  expectShapeFaults(
    'Policy',
    [
      { 'spec.decision': { type: 'maybe' } },
      'spec.decision.type must be one of `allow`, `deny`, `require_approval`, `escalate`, `block`, but is "maybe".',
    ],
    [{ 'spec.decision': {} }, 'spec.decision needs `type`.'],
    [
      { 'spec.decision': { type: 'deny', approvals_required: 1.5 } },
      'spec.decision.approvals_required must be an integer, but is a number.',
    ],
  )
  const { policies } = agentOf(await bundleOf(DESK), 'acme.desk')
  expect(policies.entries.find(({ policy }) => policy === 'acme.ceiling')!.effect).toBe('deny')
})

verifies('authoring.policy.timeout', () => {
  const timeout = (given: JsonObject) => ({ 'spec.decision': { type: 'require_approval', timeout: given } })
  for (const each of ['deny', 'allow', 'escalate']) expectValid('Policy', timeout({ after_minutes: 5, default: each }))
  expectShapeFaults(
    'Policy',
    [
      timeout({ after_minutes: 5, default: 'wait' }),
      'spec.decision.timeout.default must be one of `deny`, `allow`, `escalate`, but is "wait".',
    ],
    [timeout({ default: 'deny' }), 'spec.decision.timeout needs `after_minutes`.'],
    [timeout({ after_minutes: 5 }), 'spec.decision.timeout needs `default`.'],
    [
      timeout({ after_minutes: 0.5, default: 'deny' }),
      'spec.decision.timeout.after_minutes must be an integer, but is a number.',
    ],
  )
})

verifies('authoring.policy.conditions', () => {
  const when = (conditions: JsonObject) => ({ 'spec.conditions': conditions, 'spec.decision': { type: 'deny' } })
  const leaf = { field: 'args.amount', op: 'gt', value: 1 }
  expectLintErrors(
    'Policy',
    [when({ all: [leaf, { any: [leaf, { not: { field: 'args.note', op: 'exists' } }] }] }), ''],
    [when({ all: leaf }), 'policy/condition-syntax: A list of conditions with at least one member belongs here.'],
    [
      when({ xor: [] }),
      'policy/condition-syntax: A comparison has no key "xor"; it has field, op, value, each, if_missing, window, by.',
    ],
  )
})

verifies('authoring.bundle.root', () => {
  expectShapeFaults(
    'Bundle',
    [{ spec: undefined }, 'The document needs `spec`.'],
    [{ 'spec.root': undefined }, 'spec needs `root`.'],
    [{ 'spec.root': '' }, 'spec.root must not be empty.'],
  )
  expectLintErrors('Bundle', [{}, 'bundle/root-missing: There is no file "agent.yaml".'])
})

verifies('authoring.boundaries', async () => {
  const desk = agentOf(await bundleOf(DESK), 'acme.desk')
  const decisionOf = (amount: number) => {
    const facts = makeFacts({
      args: { amount },
      tool: { id: 'acme.refunds', wire_name: 'refunds', side_effect_class: 'irreversible_action' },
    })
    return decideByPolicies({ own: desk.policies, ancestors: [] }, 'refunds', facts).decision
  }
  expect(desk.boundaries).toEqual(['refund-limit'])
  expect([decisionOf(100), decisionOf(101)]).toEqual(['allow', 'require_approval'])
})

verifies('authoring.limits', async () => {
  expectValid(
    'Agent',
    { 'spec.limits': {} },
    {
      'spec.limits': {
        max_tokens_per_run: 1,
        max_loop_iterations: 1,
        max_wall_clock_seconds: 1,
        max_hitl_wait_minutes: 1,
        max_subagent_depth: 1,
        on_limit: 'escalate',
      },
    },
  )
  expectShapeFaults(
    'Agent',
    [
      { 'spec.limits': { max_tokens_per_run: 1.5 } },
      'spec.limits.max_tokens_per_run must be an integer, but is a number.',
    ],
    [{ 'spec.limits': { on_limit: 'stop' } }, 'spec.limits.on_limit must be one of `halt`, `escalate`, but is "stop".'],
  )
  const endOf = async (on_limit?: 'halt' | 'escalate') => {
    const bench = await openBench({
      agents: [
        snapshotOf({
          name: 'root',
          tools: [tool('look')],
          limits: { max_loop_iterations: 2, ...(on_limit && { on_limit }) },
        }),
      ],
      models: { root: ({ run }) => (run.turn < 5 ? { calls: [{ name: 'look' }] } : 'Done.') },
      tools: { look: () => returns('seen') },
    })
    const run = await bench.start('root')
    if (on_limit === 'escalate')
      await bench.engine.answer(run, reply(await bench.waitForTask(run), { by: operator(), approved: true }))
    await bench.waitForEnd(run)
    const { status, error } = (await bench.store.run(run))!
    return [bench.invoked.length, status, error]
  }
  const halted = [2, 'Failed', 'The limit max_loop_iterations of 2 is reached: 2 used.']
  expect(await endOf()).toEqual(halted)
  expect(await endOf('halt')).toEqual(halted)
  expect(await endOf('escalate')).toEqual([4, 'Completed', null])
})

verifies('authoring.limits.depth', async () => {
  expectLintErrors('Agent', [
    { 'spec.limits': { max_subagent_depth: 0, max_loop_iterations: 5 } },
    'limits/non-positive: max_subagent_depth must be greater than zero, but is 0.',
  ])
  // Seven agents in a row: the root and the five below it run, the next delegation is refused.
  const names = ['root', 'a', 'b', 'c', 'd', 'e', 'f']
  const snapshots = names.reduceRight<ReturnType<typeof snapshotOf>[]>(
    (below, name) => [snapshotOf({ name, agents: below.slice(0, 1).map((each) => boundAgent(each)) }), ...below],
    [],
  )
  const models = Object.fromEntries(
    names.map((name, index) => [
      name,
      inOrder(index < 6 ? { calls: [{ name: names[index + 1]!, args: { message: 'Well?' } }] } : 'Bottom.', 'Done.'),
    ]),
  )
  const bench = await openBench({ agents: snapshots, models })
  const run = await bench.start('root')
  await bench.waitForEnd(run)
  const { sessionId } = (await bench.store.run(run))!
  const { runs } = await bench.engine.conversation(sessionId)
  expect(runs.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5])
})

const metadata = { name: 'desk', namespace: 'acme', version: '1.0.0' }
const LEAST = {
  Agent: {
    apiVersion: 'svc/v1',
    kind: 'Agent',
    metadata,
    spec: {
      purpose: 'Answers questions.',
      instructions: { text: 'Help.' },
      model: { provider: 'scripted', name: 'script' },
    },
  },
  Tool: { apiVersion: 'svc/v1', kind: 'Tool', metadata, spec: {} },
  Policy: { apiVersion: 'svc/v1', kind: 'Policy', metadata, spec: {} },
  Bundle: { apiVersion: 'svc/v1', kind: 'Bundle', metadata, spec: { root: 'agent.yaml' } },
} as const satisfies Record<string, JsonObject>
type Kind = keyof typeof LEAST
const KINDS = Object.keys(LEAST) as readonly Kind[]

/** By dotted path; undefined takes a key out. */
type Changes = Readonly<Record<string, JsonValue | undefined>>

function textOf(kind: Kind, changes: Changes): string {
  const document: Record<string, JsonValue> = structuredClone(LEAST[kind]) as Record<string, JsonValue>
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split('.')
    const last = keys.pop()!
    const parent = keys.reduce((at, key) => (at[key] ??= {}) as Record<string, JsonValue>, document)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return JSON.stringify(document)
}

/** What is said of the form of a document. */
const shapeFaultsOf = (kind: Kind, changes: Changes): string =>
  readDocuments({ path: 'x.json', text: textOf(kind, changes) }, { named: true })
    .findings.map(({ message }) => message)
    .join(' ')

/** The documents with these changes have the right form. */
function expectValid(kind: Kind, ...cases: Changes[]): void {
  for (const changes of cases) expect([changes, shapeFaultsOf(kind, changes)]).toEqual([changes, ''])
}

/** Each document has the fault that its message names, and no other. */
function expectShapeFaults(kind: Kind, ...cases: (readonly [Changes, string])[]): void {
  for (const [changes, message] of cases) expect([changes, shapeFaultsOf(kind, changes)]).toEqual([changes, message])
}

/** What the rules that look further than the form say of each document; nothing where they accept it. */
function expectLintErrors(kind: Kind, ...cases: (readonly [Changes, string])[]): void {
  for (const [changes, expected] of cases) {
    const found = lintWorkspace(loadFiles({ 'x.json': textOf(kind, changes) })).filter(
      ({ severity }) => severity === 'error',
    )
    expect([changes, found.map(({ rule, message }) => `${rule}: ${message}`).join(' ')]).toEqual([changes, expected])
  }
}
