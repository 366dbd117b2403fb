/** Persons at the operator channel, each with a credential, through the binary. Source: docs/design/approvals.md#who-may-decide */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { copyExample, deploy, serveHere, svc, svcJson, type Project, type Ran, type RunningServer } from './binary.ts'

let project: Project
let server: RunningServer
let apiKey: string
const keys: Record<string, { keyId: string; secret: string }> = {}

const run = (args: readonly string[], secret?: string, input?: string): Promise<Ran> =>
  svc([...args, '--data', project.data], {
    cwd: project.directory,
    env: { SVC_OPERATOR: 'root', ...(secret !== undefined && { SVC_OPERATOR_KEY: secret }) },
    ...(input !== undefined && { input }),
  })
const as = (name: string, ...args: string[]): Promise<Ran> => run(args, keys[name]!.secret)
const told = ({ code, stdout, stderr }: Ran): unknown[] => [code, stdout.split(';')[0], stderr.split('\n')[0]]

/** Digest of the arguments that the inbox shows. */
const shown = async (): Promise<string> =>
  JSON.parse((await run(['inbox', '--json', '--jq', '.items[0].argsDigest'])).stdout) as string

/** Writes what the policy for refunds above the limit says of its approvers. */
function setRuntime({ directory }: Project, runtime: string): void {
  const path = join(directory, 'policies/refund-limit.yaml')
  writeFileSync(path, readFileSync(path, 'utf8').replace(/ {4}runtime:\n.*\n/, `    runtime: ${runtime}\n`))
}

/** Every refund above 100 needs a person of the role finance who did not start it; above 1,000 two of them. */
beforeAll(async () => {
  project = copyExample('refund')
  setRuntime(project, '{ svc/approver_role: finance, svc/separation_of_duties: true }')
  apiKey = (await deploy(project, 'acme.refund-desk')).secret
  const make = async (name: string, email: string, ...roles: string[]): Promise<void> => {
    const given = ['--operator', '--email', email, ...roles.flatMap((role) => ['--role', role]), '--data', project.data]
    keys[name] = await svcJson(['keys', 'create', ...given], { cwd: project.directory })
  }
  await make('ana', 'ana@acme.example', 'finance')
  await make('ben', 'Ben@acme.example', 'finance', 'legal')
  await make('ben again', 'ben@acme.example', 'finance')
  await make('carl', 'carl@acme.example')
  await make('dora', 'dora@acme.example', 'finance')
  server = await serveHere(['--data', project.data], { cwd: project.directory, env: { SVC_OPERATOR: 'root' } })
})

afterAll(async () => {
  await server.stop()
  project.remove()
})

const REFUSED = 'error[not_an_approver]: This approver may not decide this task'
const NO_ROLE = `${REFUSED}: it takes a person with the role finance.`
const STARTED = `${REFUSED}: who started the run does not decide what it may do.`
const DIGEST_REQUIRED =
  /^error\[digest_required\]: Task \w{6} is approved with the digest of the arguments that were seen: several people approve it\.$/
const INVALID = 'error[invalid_operator_key]: The operator credential is not valid.'

test('two persons of the role decide, each once, and not the one who started the run', async () => {
  const { stdout } = await as('ana', 'run', 'acme.refund-desk', 'order=A-1', 'amount:=1500', '--detach')
  await run(['runs', 'get', '@last', '--wait=pause'])
  // Where several approve, each names the arguments that were seen.
  expect(told(await as('ben', 'approve', '@waiting'))).toEqual([6, '', expect.stringMatching(DIGEST_REQUIRED)])
  const seen = ['@waiting', '--args-digest', await shown()]
  expect(told(await run(['approve', ...seen]))).toEqual([4, '', NO_ROLE])
  expect(told(await as('carl', 'approve', ...seen))).toEqual([4, '', NO_ROLE])
  expect(told(await as('ana', 'approve', ...seen))).toEqual([4, '', STARTED])
  const byKey = await svc(['approve', ...seen, '--run', stdout.trim(), '--url', server.url], {
    env: { SVC_API_KEY: apiKey },
  })
  expect(told(byKey)).toEqual([4, '', NO_ROLE])
  expect(told(await as('ben', 'approve', ...seen, '--as', 'ana@acme.example'))).toEqual([
    4,
    '',
    `${REFUSED}: the request is not by ana@acme.example.`,
  ])
  expect((await as('ben', 'inbox', '--mine', '--count')).stdout).toBe('1\n')
  const vote = (counts: string) => `vote of operator ben@acme.example ${counts} for Refund 1,500 EUR for A-1: 1 of 2`
  expect(told(await as('ben', 'approve', ...seen, '--as', 'BEN@acme.example'))).toEqual([0, vote('counted'), ''])
  expect((await as('ben', 'inbox', '--mine', '--count')).stdout).toBe('0\n')
  expect((await as('dora', 'inbox', '--mine', '--count')).stdout).toBe('1\n')
  for (const name of ['ben', 'ben again'])
    expect(told(await as(name, 'approve', ...seen))).toEqual([0, vote('counts already'), ''])
  const last = await run(['approve', ...seen, '--operator-key-file', '-'], undefined, `${keys['dora']!.secret}\n`)
  expect(told(last)).toEqual([0, 'approved Refund 1,500 EUR for A-1 (2 of 2)', ''])
  const ended = await run(['runs', 'get', '@last', '--wait=terminal', '--json', '--jq', '.status'])
  expect(ended.stdout).toBe('"Completed"\n')
})

test('without a server the same holds', async () => {
  expect((await as('dora', 'run', 'acme.refund-desk', 'order=A-2', 'amount:=180', '--detach')).code).toBe(0)
  await run(['runs', 'get', '@last', '--wait=pause'])
  await server.stop()
  expect(told(await run(['reject', '@waiting', '--no-reason']))).toEqual([4, '', NO_ROLE])
  expect(told(await as('dora', 'approve', '@waiting'))).toEqual([4, '', STARTED])
  expect(told(await as('ben', 'approve', '@waiting'))).toEqual([0, 'approved Refund 180 EUR for A-2 (1 of 1)', ''])
  server = await serveHere(['--data', project.data], { cwd: project.directory })
  const ended = await run(['runs', 'get', '@last', '--wait=terminal', '--json', '--jq', '.status'])
  expect(ended.stdout).toBe('"Completed"\n')
})

test('a credential that is not valid is refused, never passed over', async () => {
  const wrong = keys['carl']!.secret.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const secret of ['root', wrong, apiKey]) expect(told(await run(['inbox'], secret))).toEqual([4, '', INVALID])
  const file = join(project.directory, 'empty.key')
  writeFileSync(file, '\n')
  expect((await run(['inbox', '--operator-key-file', file])).code).toBe(2)
  expect(readFileSync(file, 'utf8')).toBe('\n')
  expect((await as('carl', 'inbox', '--count')).code).toBe(0)
  const { keyId } = keys['carl']!
  expect((await run(['keys', 'revoke', keyId, '--yes'])).stdout).toMatch(/^revoked svc_....…\n$/)
  expect(told(await as('carl', 'inbox', '--count'))).toEqual([4, '', INVALID])
  expect((await run(['inbox', '--count'])).code).toBe(0)
})

test('the API knows no credential of an operator', async () => {
  const asked = await fetch(`${server.url}/v1/runs/${keys['ana']!.keyId}`, {
    headers: { 'x-api-key': keys['ana']!.secret },
  })
  expect([asked.status, await asked.json()]).toMatchObject([401, { code: 'invalid_api_key' }])
})

test('credentials are listed beside the keys, with their roles and without their secrets', async () => {
  const { items } = await svcJson<{ items: Record<string, unknown>[] }>(['keys', 'list', '--data', project.data], {
    cwd: project.directory,
  })
  expect(items.filter(({ email }) => email !== undefined).map(({ email, roles }) => [email, roles])).toEqual([
    ['ana@acme.example', ['finance']],
    ['ben@acme.example', ['finance', 'legal']],
    ['ben@acme.example', ['finance']],
    ['carl@acme.example', []],
    ['dora@acme.example', ['finance']],
  ])
  expect(items.find(({ email }) => email === 'ana@acme.example')).toEqual({
    keyId: keys['ana']!.keyId,
    email: 'ana@acme.example',
    roles: ['finance'],
    name: null,
    prefix: keys['ana']!.secret.slice(0, 8),
    createdAt: expect.any(String),
    expiresAt: null,
    revokedAt: null,
    lastUsedAt: expect.any(String),
  })
})

test('the secret is alone on stdout', async () => {
  const made = await run(['keys', 'create', '--operator', '--email', 'eva@acme.example', '--role', 'finance'])
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^svc_[0-9A-Za-z]{38}\n$/)])
  expect(made.stderr).toMatch(/^operator credential \S+ for eva@acme\.example \(finance\)\. Shown once:\n$/)
})

test.each([
  [['--operator'], 'An operator credential is for one person.'],
  [['--operator', '--email', 'eva@acme.example', '--agent', 'acme.refund-desk'], 'for a person, not for an agent'],
  [['--email', 'eva@acme.example'], '--email and --role are for operator credentials.'],
  [['--operator', '--email', 'eva'], '/email: must be an email address'],
  [['--operator', '--email', 'eva@acme.example', '--role', 'a and b'], '/roles/0: must be the name of one role'],
])('keys create %j is refused', async (args, why) => {
  const ran = await run(['keys', 'create', ...args])
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([2, '', expect.stringContaining(why)])
})

describe('without a credential', () => {
  let local: Project
  let open: RunningServer
  let secret: string
  const here = (...args: string[]): Promise<Ran> => svc([...args, '--data', local.data], { cwd: local.directory })
  const post = (path: string, body: object): Promise<Ran> =>
    svc(['api', 'POST', `/v1/${path}`, '--input', '-', '--data', local.data], {
      cwd: local.directory,
      input: JSON.stringify(body),
    })
  const waiting = async (): Promise<{ runId: string; userTaskId: string }> => {
    await here('runs', 'get', '@last', '--wait=pause')
    return (await svcJson<{ items: { runId: string; userTaskId: string }[] }>(['inbox', '--data', local.data]))
      .items[0]!
  }

  beforeAll(async () => {
    local = copyExample('refund')
    setRuntime(local, '{ svc/separation_of_duties: true }')
    secret = (await deploy(local, 'acme.refund-desk')).secret
    open = await serveHere(['--data', local.data], { cwd: local.directory, env: { SVC_OPERATOR: 'root' } })
  })
  afterAll(async () => {
    await open.stop()
    local.remove()
  })

  test('who starts a run at this machine does not approve it, whichever command he takes', async () => {
    expect((await here('run', 'acme.refund-desk', 'order=B-1', 'amount:=180', '--detach')).code).toBe(0)
    const { runId, userTaskId } = await waiting()
    expect(told(await here('approve', '@waiting'))).toEqual([4, '', STARTED])
    const raw = await post(`runs/${runId}/messages`, { runId, userTaskId, approved: true })
    expect(JSON.parse(raw.stdout)).toMatchObject({ status: 'WaitingForHITL', code: 'not_an_approver' })
    const byKey = await svc(['approve', '@waiting', '--run', runId, '--url', open.url], {
      env: { SVC_API_KEY: secret },
    })
    expect(told(byKey)).toEqual([0, 'approved Refund 180 EUR for B-1 (1 of 1)', ''])
  })

  test('nor a run that he starts with a request written by hand', async () => {
    const { agentId } = await svcJson<{ agentId: string }>(['agents', 'show', 'acme.refund-desk', '--data', local.data])
    expect((await post(`agents/${agentId}/runs`, { input: { order: 'B-2', amount: 180 } })).code).toBe(0)
    await waiting()
    expect(told(await here('approve', '@waiting'))).toEqual([4, '', STARTED])
    expect((await here('runs', 'cancel', '@waiting', '--yes')).code).toBe(0)
  })

  test('he is nobody in a quorum, and no body of the API makes somebody else of a key', async () => {
    const { agentId } = await svcJson<{ agentId: string }>(['agents', 'show', 'acme.refund-desk', '--data', local.data])
    const byApi = async (path: string, body: object): Promise<unknown> => {
      const headers = { 'x-api-key': secret, 'content-type': 'application/json' }
      const posed = { person: 'root', triggeredBy: 'root', name: 'one command', oneCommand: true }
      const sent = { method: 'POST', headers, body: JSON.stringify({ ...posed, ...body }) }
      return (await fetch(`${open.url}/v1/${path}`, sent)).json()
    }
    await byApi(`agents/${agentId}/runs`, { input: { order: 'B-3', amount: 1500 } })
    const { runId, userTaskId } = await waiting()
    const yes = { runId, userTaskId, approved: true }
    expect(await byApi(`runs/${runId}/messages`, yes)).toMatchObject({ code: 'not_an_approver' })
    const { stdout: seen } = await here('inbox', '--json', '--jq', '.items[0].argsDigest')
    const approved = await here('approve', '@waiting', '--args-digest', JSON.parse(seen) as string)
    expect([approved.code, approved.stdout, approved.stderr]).toEqual([
      4,
      '',
      expect.stringContaining('a quorum counts people, each with a credential of their own'),
    ])
    expect(JSON.parse((await post(`runs/${runId}/messages`, yes)).stdout)).toMatchObject({
      status: 'WaitingForHITL',
      code: 'not_an_approver',
      pending: [{ userTaskId, votes: { have: 0, need: 2 } }],
    })
  })
})
