/** Every command of the table, run once in each form: what it prints is what the table says, and nothing else is there. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CommandSpec } from '../../src/cli/shell/command.ts'
import { exitCodes } from '../../src/cli/shell/exit-codes.ts'
import { outputSchema } from '../../src/cli/answers/output-schema.ts'
import { commandTable } from '../../src/cli/table/table.ts'
import { readOpenApi } from '../../src/server/http/openapi.ts'
import { startFakeMcp, type FakeMcp } from '../fakes/mcp.ts'
import { newKeyPair, trustValue } from '../spec/trust/makers.ts'
import { going, svc as runSvc, temporary, type Going, type Ran } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (argv: readonly string[]): Promise<Ran> =>
  runSvc(argv, { cwd, env: { XDG_CONFIG_HOME: join(parent, 'user') } })
const json = async <T>(argv: readonly string[]): Promise<T> => JSON.parse((await svc([...argv, '--json'])).stdout) as T

const AGENT = 'acme.refund-desk'
let server: Going
/** A project with files of clients. */
const clients = join(parent, 'clients')
let fake: FakeMcp

/** Ids of the things that commands act on. */
const ids: Record<'run' | 'waiting' | 'task' | 'trigger' | 'key' | 'file' | 'agent', string> = {
  run: '',
  waiting: '',
  task: '',
  trigger: '',
  key: '',
  file: '',
  agent: '',
}

const held = async (): Promise<{ runId: string; task: { userTaskId: string } }> =>
  await json(['run', AGENT, 'order=A-1042', 'amount=180'])

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  const published = await json<{ deployed: { agentId: string } }>(['publish', '--deploy'])
  ids.agent = published.deployed.agentId
  await svc(['triggers', 'create', AGENT, '--type', 'api'])
  server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  ids.run = (await json<{ runId: string }>(['run', AGENT, 'order=A-1042', 'amount=60'])).runId
  const { runId, task } = await held()
  ids.waiting = runId
  ids.task = task.userTaskId
  writeFileSync(join(cwd, 'note.txt'), 'paid twice\n')
  writeFileSync(join(cwd, 'one.jsonl'), '{"input":{"order":"A-1","amount":5},"checks":[{"calls":"acme.refunds"}]}\n')
  writeFileSync(
    join(cwd, 'api.json'),
    JSON.stringify({ openapi: '3.1.0', servers: [{ url: 'https://shop.example' }], paths: { '/orders': { get: {} } } }),
  )
  writeFileSync(join(cwd, 'tools.json'), '{ "tools": [{ "name": "find" }] }')
  writeFileSync(join(cwd, 'team.yaml'), 'agents: { root: { instruction: You help. } }\n')
  writeFileSync(join(cwd, 'spec.yaml'), 'component_type: Agent\nname: spec\nsystem_prompt: You help.\n')
  writeFileSync(join(cwd, 'helper.md'), '---\nname: helper\ntools: []\n---\nYou help.\n')
  mkdirSync(clients)
  fake = await startFakeMcp('modern', [{ name: 'find', answer: () => ({ content: [] }) }])
  for (const name of ['client', 'client-1', 'client-2'])
    writeFileSync(join(clients, `${name}.json`), JSON.stringify({ mcpServers: { crm: { url: fake.url } } }))
  for (const name of ['client-1', 'client-2'])
    await svc(['gateway', 'wrap', `${name}.json`, '--namespace', name, '--yes', '-C', clients])
  writeFileSync(
    join(clients, 'desk.yaml'),
    `apiVersion: svc/v1
kind: Agent
metadata: { namespace: acme, name: desk, version: 1.0.0 }
spec:
  purpose: Looks.
  instructions: { text: Look. }
  model: { provider: scripted, name: m }
  mcp_servers: [{ name: crm, url: '${fake.url}', auth: { scheme: authorization_code } }]
`,
  )
  const files = await json<{ items: { filename: string }[] }>(['files', 'upload', 'note.txt'])
  ids.file = files.items[0]!.filename
  ids.trigger = (await json<{ triggerId: string }>(['triggers', 'create', AGENT, '--name', 'spare'])).triggerId
  ids.key = (await json<{ keyId: string }>(['keys', 'create', '--agent', AGENT, '--trigger', 'spare'])).keyId
  await svc(['bundle', 'pack', '-o', 'bundle.tgz'])
  const pair = newKeyPair()
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' })
  writeFileSync(join(parent, 'key.pem'), pem, { mode: 0o600 })
  writeFileSync(join(cwd, 'trust.yaml'), JSON.stringify(trustValue({ ana: pair })))
  await svc(['bundle', 'pack', '-o', 'signed.tgz', '--sign', '../key.pem'])
  await svc(['backup', 'backup.tgz'])
})

afterAll(async () => {
  await server.end()
  await fake.close()
  remove()
})

/** Each order is refunded once, and each refund released once. */
let [refunded, released] = [6, 6]
/** Each file of a client is restored once. */
let unwrapped = 0

/** How each command is called here; what it ends with, where that is not 0. In the order of the table. */
const calls: Readonly<Record<string, () => readonly string[]>> = {
  init: () => ['init', join(parent, `new-${Math.random()}`), '-t', 'blank'],
  lint: () => ['lint'],
  fmt: () => ['fmt', '--check'],
  compile: () => ['compile'],
  'policy test': () => ['policy', 'test'],
  'policy eval': () => [
    'policy',
    'eval',
    '--agent',
    AGENT,
    '--tool',
    'acme.refunds',
    '--args',
    '{"amount":180,"order":"A-1","currency":"EUR"}',
  ],
  'policy can': () => ['policy', 'can', AGENT, 'acme.refunds'],
  'policy explain': () => ['policy', 'explain', ids.run],
  'policy backtest': () => ['policy', 'backtest', '--since', '1d', '--policies', 'policies'],
  'policy revoke': () => ['policy', 'revoke', 'small-refunds', '--reason', 'fraud wave'],
  test: () => ['test', '--filter', 'timeout'],
  eval: () => ['eval', 'one.jsonl', '--fail-on', 'nothing'],
  'eval from-runs': () => ['eval', 'from-runs', '--agent', AGENT, '--out', 'runs.jsonl'],
  'eval list': () => ['eval', 'list'],
  'import openapi': () => ['import', 'openapi', 'api.json'],
  'import mcp': () => ['import', 'mcp', 'tools.json', '--server', 'https://crm.example/mcp'],
  'import claude': () => ['import', 'claude', 'helper.md'],
  'import docker-agent': () => ['import', 'docker-agent', 'team.yaml'],
  'import agent-spec': () => ['import', 'agent-spec', 'spec.yaml'],
  'gateway wrap': () => ['gateway', 'wrap', 'client.json', '--yes', '-C', clients],
  'gateway unwrap': () => ['gateway', 'unwrap', `client-${++unwrapped}.json`, '--yes', '-C', clients],
  'gateway status': () => ['gateway', 'status', '-C', clients],
  'bundle tree': () => ['bundle', 'tree'],
  'bundle pack': () => ['bundle', 'pack', '-o', 'again.tgz'],
  'bundle sbom': () => ['bundle', 'sbom'],
  'bundle verify': () => ['bundle', 'verify', 'bundle.tgz'],
  'bundle diff': () => ['bundle', 'diff', 'bundle.tgz', '.'],
  schema: () => ['schema', 'agent'],
  explain: () => ['explain', 'tool/unresolved'],
  publish: () => ['publish', '--plan'],
  'versions list': () => ['versions', 'list', AGENT],
  'versions show': () => ['versions', 'show', `${AGENT}@1.0.0`],
  'versions source': () => ['versions', 'source', `${AGENT}@1.0.0`],
  'versions diff': () => ['versions', 'diff', `${AGENT}@1.0.0`, `${AGENT}@1.0.0`],
  'versions yank': () => ['versions', 'yank', `${AGENT}@1.0.0`, '--undo'],
  deploy: () => ['deploy', `${AGENT}@1.0.0`, '--yes'],
  'agents list': () => ['agents', 'list'],
  'agents show': () => ['agents', 'show', AGENT],
  'agents graph': () => ['agents', 'graph', AGENT],
  'agents history': () => ['agents', 'history', AGENT],
  'triggers list': () => ['triggers', 'list'],
  'triggers show': () => ['triggers', 'show', ids.trigger],
  'triggers create': () => ['triggers', 'create', AGENT, '--type', 'api'],
  'triggers update': () => ['triggers', 'update', ids.trigger, '--max-concurrent', '3'],
  'keys list': () => ['keys', 'list'],
  'keys create': () => ['keys', 'create', '--agent', AGENT, '--trigger', 'api'],
  'keys revoke': () => ['keys', 'revoke', ids.key, '--yes'],
  'mcp login': () => ['mcp', 'login', '-C', clients],
  login: () => ['login', 'http://127.0.0.1:1'],
  logout: () => ['logout', 'http://127.0.0.1:1'],
  'mcp logout': () => ['mcp', 'logout', '-C', clients],
  verify: () => ['verify', 'signed.tgz'],
  'trust check': () => ['trust', 'check'],
  'trust sign': () => ['trust', 'sign', '--sign', '../key.pem'],
  'trust install': () => ['trust', 'install'],
  'trust show': () => ['trust', 'show'],
  'trust key': () => ['trust', 'key', '../key.pem'],
  backup: () => ['backup', 'another.tgz'],
  restore: () => ['restore', 'backup.tgz', '--data', 'elsewhere', '--force', '--yes'],
  'store migrate': () => ['store', 'migrate'],
  'store copy': () => ['store', 'copy', 'sqlite:nowhere', 'sqlite:elsewhere-yet'],
  'workers list': () => ['workers', 'list'],
  'workers drain': () => ['workers', 'drain', 'nobody'],
  reset: () => ['reset', '--all', '--yes', '--data', 'elsewhere'],
  run: () => ['run', AGENT, `order=A-${++refunded}`, 'amount=5'],
  'runs list': () => ['runs', 'list'],
  overview: () => ['overview'],
  'runs outcomes': () => ['runs', 'outcomes'],
  'runs get': () => ['runs', 'get', ids.run],
  'runs watch': () => ['runs', 'watch', ids.run],
  'runs steps': () => ['runs', 'steps', ids.run],
  'runs calls': () => ['runs', 'calls', ids.run],
  'runs scenario': () => ['runs', 'scenario', ids.run],
  'runs conversation': () => ['runs', 'conversation', ids.run],
  stream: () => ['stream', ids.run],
  'sessions list': () => ['sessions', 'list'],
  'sessions show': () => ['sessions', 'show', '@last'],
  'sessions set': () => ['sessions', 'set', '@last', '--title', 'Refunds'],
  'files upload': () => ['files', 'upload', 'note.txt'],
  'files list': () => ['files', 'list'],
  'files get': () => ['files', 'get', ids.file, '-o', 'back.txt'],
  inbox: () => ['inbox'],
  logs: () => ['logs'],
  'log acts': () => ['log', 'acts'],
  'audit export': () => ['audit', 'export', 'acts.tar'],
  'audit checkpoint': () => ['audit', 'checkpoint', 'audit.log', '--key', 'audit.pem'],
  'audit verify': () => ['audit', 'verify', 'acts.tar'],
  costs: () => ['costs', '--by', 'agent,model,day'],
  'effects list': () => ['effects', 'list'],
  'effects show': () => ['effects', 'show', 'refund:A-7'],
  'effects release': () => ['effects', 'release', `refund:A-${++released}`, '--reason', 'sent back'],
  'passkeys list': () => ['passkeys', 'list'],
  'passkeys remove': () => ['passkeys', 'remove', 'abcdef'],
  'notify list': () => ['notify', 'list'],
  'notify retry': () => ['notify', 'retry'],
  'notify test': () => ['notify', 'test', 'nowhere'],
  'secrets check': () => ['secrets', 'check'],
  'secrets list': () => ['secrets', 'list'],
  'secrets set': () => ['secrets', 'set', 'KEY'],
  doctor: () => ['doctor', 'node', 'project'],
  health: () => ['health'],
  api: () => ['api', 'GET', `/v1/runs/${ids.run}`],
  'config list': () => ['config', 'list'],
  'config get': () => ['config', 'get', 'dev.port'],
  'config set': () => ['config', 'set', 'workspace', 'acme'],
  completion: () => ['completion', 'bash'],
  openapi: () => ['openapi'],
  help: () => ['help'],
  version: () => ['version'],
  reject: () => ['reject', ids.task, '--reason', 'not again'],
  claim: () => ['claim', ids.task],
  approve: () => ['approve', ids.task],
  answer: () => ['answer', ids.task, 'yes'],
  send: () => ['send', ids.run, 'hello'],
  signal: () => ['signal', ids.run, 'paid', '{"amount":1}'],
  complete: () => ['complete', `svcc_${'A'.repeat(54)}`, '--result', '{"paid":true}'],
  stop: () => ['stop', '--provider', 'nobody', '--reason', 'wrong prices'],
  'agents pause': () => ['agents', 'pause', AGENT, '--reason', 'audit'],
  'agents resume': () => ['agents', 'resume', AGENT],
  'runs migrate': () => ['runs', 'migrate', ids.waiting, '--to', '1.0.0'],
  'runs cancel': () => ['runs', 'cancel', ids.waiting],
  'runs resume': () => ['runs', 'resume', ids.waiting],
  'runs retry': () => ['runs', 'retry', ids.run],
  'runs fork': () => ['runs', 'fork', ids.run, '--at', '1', '--dry'],
  'runs undo': () => ['runs', 'undo', ids.run, '--plan'],
  'sessions delete': () => ['sessions', 'delete', '@last', '--yes'],
  console: () => ['console'],
  'triggers delete': () => ['triggers', 'delete', ids.trigger, '--yes'],
}

/** They go on until they are ended, and have tests of their own. */
const LASTING = ['lsp', 'mcp', 'demo', 'dev', 'serve']

/** Calls that are refused here, and how. */
const REFUSED: Readonly<Record<string, number>> = {
  approve: 6,
  claim: 6,
  answer: 2,
  send: 2,
  signal: 6,
  stop: 5,
  complete: 5,
  'runs migrate': 6,
  'policy revoke': 5,
  'secrets set': 2,
  'runs resume': 6,
  'sessions delete': 6,
  console: 6,
  'notify test': 5,
  'mcp login': 4,
  login: 8,
  'passkeys remove': 5,
  // The second time it is not newer.
  'trust install': 4,
  'store migrate': 2,
  'store copy': 5,
  'workers drain': 5,
  test: 0,
}

test('every command of the table is called here', () => {
  expect([...Object.keys(calls), ...LASTING].toSorted()).toEqual(commandTable.map(({ path }) => path).toSorted())
})

const api = await readOpenApi()

/** Checks answers by the schema of the table; here a field that it does not name is a fault. */
function createValidator(spec: CommandSpec): (answer: unknown) => readonly string[] {
  // Bodies of the HTTP interface, among `$defs`, have tests of their own.
  const { $defs, ...own } = outputSchema(spec, api) ?? {}
  const schema = { ...(JSON.parse(JSON.stringify(own), closed) as object), ...($defs !== undefined && { $defs }) }
  const ajv = new Ajv2020({ allErrors: true, keywords: ['discriminator'] })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (answer) =>
    validate(answer)
      ? []
      : validate.errors!.map(({ instancePath, params }) => `${instancePath} ${JSON.stringify(params)}`)
}

const closed = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'properties' in value && 'type' in value
    ? { additionalProperties: false, ...value }
    : value

/** A refusal is one line `{"error":…}`. */
const faultsOfRefusal = (answer: unknown): readonly string[] =>
  Object.keys(answer as object).filter((name) => name !== 'error')

// eslint-disable-next-line no-control-regex -- what no pipe may get
const ESCAPE = /\u001B/

describe.each(Object.keys(calls))('svc %s', (path) => {
  const spec = commandTable.find((each) => each.path === path)!
  const faultsOf = createValidator(spec)
  const allowed = [0, REFUSED[path] ?? 0]

  test('prints for a pipe without colour, and its answer is all that stdout gets', async () => {
    if (path === 'triggers delete') return
    const { code, stdout, stderr } = await svc(calls[path]!())
    expect(allowed).toContain(code)
    expect(stdout).not.toMatch(ESCAPE)
    expect(stderr).not.toMatch(ESCAPE)
    expect(stdout === '' || stdout.endsWith('\n')).toBe(true)
    expect(code === 0 || stdout === '').toBe(true)
  })

  test.skipIf(spec.json === undefined)('prints with --json what the table says', async () => {
    const { code, stdout, stderr } = await svc([...calls[path]!(), '--json'])
    expect(exitCodes).toHaveProperty(String(code))
    const answer = code === 0 ? stdout : stderr
    const documents = answer
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown)
    expect(documents.flatMap(code === 0 ? faultsOf : faultsOfRefusal)).toEqual([])
    // What is no stream is one document; a refusal leaves stdout empty.
    expect(documents.length === 1 || /line/.test(spec.json!)).toBe(true)
    expect(code === 0 || stdout === '').toBe(true)
  })
})

test.each([
  { line: ['run', AGENT, 'order=A-8', 'amount=5', '--detach'], fields: ['runId', 'sessionId', 'status'] },
  { line: ['run', AGENT, 'order=A-9', 'amount=5', '--events'], fields: ['type', 'runId', 'durationMs'] },
  { line: ['runs', 'watch', '@last', '--events'], fields: ['type', 'runId', 'durationMs'] },
])('svc $line prints with --json what the table says', async ({ line, fields }) => {
  const spec = commandTable.find(({ path }) => line.join(' ').startsWith(`${path} `))!
  const faultsOf = createValidator(spec)
  const { code, stdout } = await svc([...line, '--json'])
  const documents = stdout
    .trimEnd()
    .split('\n')
    .map((each) => JSON.parse(each) as object)
  expect([code, documents.flatMap(faultsOf)]).toEqual([0, []])
  expect(Object.keys(documents.at(-1)!)).toEqual(expect.arrayContaining(fields))
})
