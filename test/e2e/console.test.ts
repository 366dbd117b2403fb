/** The console's address, through the binary. Source: docs/design/console.md#signing-in */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyExample, deploy, serveHere, svc, svcJson, type Project, type RunningServer } from './binary.ts'

let project: Project
let server: RunningServer
let consoleUrl: string

beforeAll(async () => {
  project = copyExample('refund')
  await deploy(project, 'acme.refund-desk')
  server = await serveHere(['--data', project.data, '--console'], { cwd: project.directory })
  consoleUrl = (JSON.parse(server.stdout().split('\n')[0]!) as { consoleUrl: string }).consoleUrl
})

afterAll(async () => {
  await server.stop()
  project.remove()
})

const run = (...args: string[]) => svc([...args, '--data', project.data], { cwd: project.directory })

test('is in the ready line, and off where nobody asked for it', async () => {
  expect(consoleUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const other = copyExample('refund')
  const plain = await serveHere(['--data', other.data], { cwd: other.directory })
  expect(JSON.parse(plain.stdout().split('\n')[0]!)).toMatchObject({ consoleUrl: null })
  const refused = await svc(['console', '--data', other.data], { cwd: other.directory })
  expect([refused.code, refused.stderr.split('\n')[0]]).toEqual([6, 'error[console_off]: No console is open here.'])
  await plain.stop()
  other.remove()
})

test('is printed with a code that signs one browser in, and the browser is listed and signed out', async () => {
  const { stdout, code } = await run('console')
  expect([code, stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${consoleUrl}/#code=[0-9A-Za-z]{38}\n$`))])
  const response = await fetch(`${consoleUrl}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-svc-console': '1', origin: consoleUrl },
    body: JSON.stringify({ code: stdout.trim().split('#code=')[1] }),
  })
  expect(response.status).toBe(200)
  const cookie = response.headers.get('set-cookie')!.split(';')[0]!
  const list = await svcJson<{ items: { sessionId: string; endedAt: string | null }[] }>(
    ['console', '--sessions', '--data', project.data],
    { cwd: project.directory },
  )
  expect(list.items.map(({ endedAt }) => endedAt)).toEqual([null])
  expect((await run('console', '--end', list.items[0]!.sessionId.slice(-8))).code).toBe(0)
  expect((await fetch(`${consoleUrl}/status`, { headers: { cookie } })).status).toBe(401)
})

test('serves the command line of an operator with a credential, wherever it runs', async () => {
  const { secret } = await svcJson<{ secret: string }>(
    ['keys', 'create', '--operator', '--email', 'ben@acme.example', '--data', project.data],
    { cwd: project.directory },
  )
  await run('run', 'acme.refund-desk', 'order=A-1', 'amount:=180', '--detach')
  await run('runs', 'get', '@last', '--wait=pause')
  const remote = (...args: string[]) => svc([...args, '--url', consoleUrl], { env: { SVC_OPERATOR_KEY: secret } })
  expect((await remote('inbox', '--count')).stdout).toBe('1\n')
  const outline = await remote('runs', 'steps', '@last', '--json', '--jq', '.runs | length')
  expect([outline.code, outline.stdout]).toEqual([0, '2\n'])
  expect((await svc(['inbox', '--url', consoleUrl], { env: { SVC_OPERATOR_KEY: `${secret}x` } })).code).toBe(4)
  const clear = await svc(['inbox', '--url', 'http://desk.example'], { env: { SVC_OPERATOR_KEY: secret } })
  expect([clear.code, clear.stderr.split('\n')[0]]).toEqual([
    2,
    'error[usage]: http://desk.example is no https address, and your credential would travel in clear.',
  ])
})
