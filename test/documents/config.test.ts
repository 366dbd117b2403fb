import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/documents/workspace/config.ts'

const problems = async (text: string): Promise<string[]> =>
  (await readConfig(text, 'svc.config.yaml')).findings.map(
    ({ rule, message, range }) => `${range.start.line}:${range.start.column} ${rule} ${message}`,
  )

test('a whole configuration is read', async () => {
  const text = `workspace: acme
include: ["agents/**/*.yaml"]
providers: {acme-llm: {type: openai-compatible, base_url: "http://localhost:8080/v1"}}
tools:
  acme.refunds: {command: [node, tools/refunds.mjs], timeout: 5s, env: [REFUNDS_LEDGER]}
  acme.orders.*: {http: {url: "http://localhost:9000", headers: {X-Key: k}}}
  acme.mail: {mock: [{when: {to: a}, result: {sent: true}}, {error: down, delay: 100ms}]}
guardrails: [policies/house.yaml]
lint: {profile: strict, rules: {tool/class-missing: error}}
limits: {max_loop_iterations: 50, max_body_bytes: 1024}
plan: {runs_per_day: 100}
triggers: [{type: schedule, cron: "0 8 * * 1"}]
network: {allowed_hosts: [db.internal], origins: ["https://app.example"]}
storage: {url: "http://localhost:9000", region: eu, max_file_bytes: 1000}
dev: {port: 4310, host: 127.0.0.1}
`
  const { config, findings } = await readConfig(text, 'svc.config.yaml')
  expect(findings).toEqual([])
  expect(config?.tools?.['acme.refunds']).toEqual({
    command: ['node', 'tools/refunds.mjs'],
    timeout: '5s',
    env: ['REFUNDS_LEDGER'],
  })
})

test.each(['', '# nothing yet\n', '{}\n'])('%j is an empty configuration', async (text) => {
  expect(await readConfig(text, 'svc.config.yaml')).toEqual({ config: {}, findings: [] })
})

test.each<[string, string, string[]]>([
  [
    'an unknown key',
    'workspce: a\n',
    ['1:1 doc/unknown-key `workspce` is not a key of the top level. Did you mean `workspace`?'],
  ],
  [
    'a provider whose name stands for clients',
    'providers: {external: {type: openai}}\n',
    [
      '1:13 doc/schema providers.external has no effect: `provider: external` stands for a client, and no model is asked.',
    ],
  ],
  [
    'two routes for one tool',
    'tools: {a.b: {command: [x], http: {url: y}}}\n',
    ['1:9 doc/schema tools.a.b has more than one of `command`, `http`, `openapi` or `mock`.'],
  ],
  [
    'no route for a tool',
    'tools: {a.b: {env: [X]}}\n',
    ['1:9 doc/schema tools.a.b needs exactly one of `command`, `http`, `openapi` or `mock`.'],
  ],
  [
    'a region, a variable and a host that cannot be',
    'providers: {a: {type: bedrock, region: "EU 1", key: {fromEnv: A-KEY}}}\nprofiles: {p: {host: example.com}}\n',
    [
      '1:63 doc/schema providers.a.key.fromEnv is not the name of an environment variable, which has only letters, digits and `_`, and begins with no digit.',
      '1:40 doc/schema providers.a.region is not a region such as `eu-central-1`.',
      '2:22 doc/schema profiles.p.host is not an address such as `ssh://user@host/data/directory` or `https://console.acme.example`.',
    ],
  ],
  [
    'a timeout without a unit',
    'tools: {a.b: {command: [x], timeout: "5"}}\n',
    ['1:38 doc/schema tools.a.b.timeout is not a duration such as `500ms`, `30s` or `5m`.'],
  ],
  [
    'a tool without a namespace',
    'tools: {refund: {command: [x]}}\n',
    ['1:9 doc/schema "refund" cannot be a name here. A tool route is named by a logical id, or by `namespace.*`.'],
  ],
  [
    'an unknown provider type',
    'providers: {a: {type: opnai}}\n',
    [
      '1:23 doc/schema providers.a.type must be one of `anthropic`, `openai`, `openai-compatible`, `gemini`, `azure-openai`, `bedrock`, `scripted`, `replay`, `auto`, but is "opnai". Did you mean "openai"?',
    ],
  ],
  ['a port outside its range', 'dev: {port: 70000}\n', ['1:13 doc/schema dev.port must be <= 65535.']],
  [
    'broken YAML',
    'a: [\n',
    ['1:5 doc/syntax A bracket or quote is not closed, or the next line is indented too little.'],
  ],
])('%s is told', async (_, text, expected) => {
  expect(await problems(text)).toEqual(expected)
  expect((await readConfig(text, 'svc.config.yaml')).config).toBeUndefined()
})

describe('notify', () => {
  const channels =
    '  channels: { ops: { command: [tell] }, hook: { webhook: { url: "https://a.example", secrets: [{ fromEnv: K }] } } }'
  const route = (text: string): string => `notify:\n${channels}\n  routes:\n    - { ${text} }\n`
  const found = async (text: string): Promise<readonly string[]> =>
    (await readConfig(text, 'svc.config.yaml')).findings.map(
      ({ message, range }) => `${range.start.line}:${range.start.column} ${message}`,
    )

  test.each<[string, string, string[]]>([
    ['is right', route('events: [task.created, run.failed], agents: [acme.*, "*", acme.desk], to: [ops, hook]'), []],
    [
      'names a channel that is not there',
      route('events: [task.created], to: [op]'),
      ['4:38 notify.routes[0].to[0] names the channel "op", which notify.channels does not have. Did you mean "ops"?'],
    ],
    [
      'delays what is no new task',
      route('events: [task.created, run.failed], to: [ops], after: 5m'),
      ['4:63 notify.routes[0].after is only for task.created, but the route has other events, too.'],
    ],
    [
      'has an unknown event',
      route('events: [task.craeted], to: [ops]'),
      [expect.stringContaining('but is "task.craeted". Did you mean "task.created"?') as never],
    ],
    [
      'has a channel of no kind',
      'notify: { channels: { ops: { content: true } }, routes: [] }',
      [expect.stringMatching(/needs .*webhook.*command.*email/) as never],
    ],
    [
      'has a channel of two kinds',
      'notify: { channels: { ops: { command: [a], email: { server: { fromEnv: S }, from: a@b, to: [a@b] } } }, routes: [] }',
      [expect.stringContaining('has more than one of') as never],
    ],
    [
      'has a try that is too long',
      'notify: { channels: { ops: { command: [a], timeout: 5m } }, routes: [] }',
      ['1:53 notify.channels.ops.timeout is longer than 60s.'],
    ],
    [
      'lets links decide what the mail does not show, and for too long',
      'notify: { channels: { ops: { email: { server: { fromEnv: S }, from: a@b, to: [a@b], decide_within: 2d } } }, routes: [] }',
      [
        '1:100 notify.channels.ops.email.decide_within needs content: true, since nobody decides what the mail may not show.',
        '1:100 notify.channels.ops.email.decide_within is not between 1ms and 24h.',
      ],
    ],
    [
      'has a channel whose name is none',
      'notify: { channels: { "a b": { command: [a] } }, routes: [] }',
      [expect.stringContaining('"a b" cannot be a name here. A channel is named by letters') as never],
    ],
    [
      'has a recipient that would begin another header',
      'notify: { channels: { ops: { email: { server: { fromEnv: S }, from: a@b, to: ["a@b\\nBcc: c@d"] } } }, routes: [] }',
      [expect.stringContaining('is not an e-mail address') as never],
    ],
  ])('%s', async (_, text, findings) => {
    expect(await found(text)).toEqual(findings)
  })
})
