/** A login to an MCP server outlives every process: the command that made it, and servers that die before and after they use it. */
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isOidcInstalled, startOidc, type OidcWorld } from '../fakes/oidc.ts'
import { waitUntil } from '../wait-until.ts'
import { deploy, serve, svc, writeProject, type Access, type Project } from './binary.ts'
import { caller, type Json } from './caller.ts'

/** The build in which processes die at failpoints. */
const MORTAL = resolve(import.meta.dirname, '../../dist/failpoints/svc.js')

describe.skipIf(!isOidcInstalled)('with npm ci --prefix test/tools/oidc --ignore-scripts', () => {
  let world: OidcWorld
  let project: Project
  let access: Access

  beforeAll(async () => {
    world = await startOidc()
    project = writeProject({
      'svc.config.yaml': 'workspace: acme\n',
      'tools/look.yaml': `
apiVersion: svc/v1
kind: Tool
metadata: { name: look, namespace: acme, version: 1.0.0 }
spec: { side_effect_class: read_only }
`,
      'agent.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: acme, version: 1.0.0 }
spec:
  purpose: Looks.
  instructions: { text: Look. }
  model: { provider: scripted, name: desk, provider_options: { script: script.yaml } }
  mcp_servers:
    - { name: crm, url: '${world.mcp.url}', auth: { scheme: authorization_code } }
  tools:
    - { ref: 'acme.look@^1', mcp: { server: crm } }
`,
      'script.yaml': `
- call: { tool: look, arguments: {} }
- say: 'It says: \${results.look}'
`,
    })
    access = await deploy(project, 'acme.desk')
  })
  afterAll(async () => {
    await world.close()
    project.remove()
  })

  /** Consents; the command dies before it has said a word of it. */
  async function logInAndDie(): Promise<void> {
    const child = spawn(process.execPath, [MORTAL, 'mcp', 'login', 'crm', '--no-open', '--data', project.data], {
      cwd: project.directory,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, SVC_FAILPOINT: 'login.kept' },
    })
    const gone = new Promise((done) => child.on('close', (_, signal) => done(signal)))
    const said = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const)
      child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text))
    const address = (): string | undefined => /^ {2}(http\S+)$/m.exec(said.stderr)?.[1]
    await waitUntil(() => address() !== undefined)
    await world.browse(address()!)
    expect([await gone, said.stdout]).toEqual(['SIGKILL', ''])
  }
  const start = () => serve(['--data', project.data], { cwd: project.directory })
  const ended = async (url: string, runId: string): Promise<Json> => {
    const api = caller(url, access.secret)
    let body: Json
    await waitUntil(async () => {
      body = (await api.get(`/v1/runs/${runId}`)).body
      return body.status === 'Completed' || body.status === 'Failed'
    })
    return body
  }

  test('a run waits for a consent, which survives kill -9 of whoever asked for it and of each server', async () => {
    const first = await start()
    const runId = await caller(first.url, access.secret).start(access.agentId)
    const shown = async (): Promise<string> =>
      (await svc(['runs', 'get', runId, '--data', project.data], { cwd: project.directory })).stdout
    await waitUntil(async () => (await shown()).includes('svc mcp login crm'))
    await first.stop('SIGKILL')
    await logInAndDie()

    const second = await start()
    await second.stop('SIGKILL')
    const third = await start()
    expect(await ended(third.url, runId)).toMatchObject({ status: 'Completed', output: 'It says: seen' })
    await third.stop('SIGKILL')

    const fourth = await start()
    const next = await caller(fourth.url, access.secret).start(access.agentId)
    expect(await ended(fourth.url, next)).toMatchObject({ status: 'Completed', output: 'It says: seen' })
    await fourth.stop()
    for (const secret of [...world.refreshTokens, ...world.accepted])
      expect(first.stderr() + third.stderr() + fourth.stderr()).not.toContain(secret)
  }, 120_000)
})
