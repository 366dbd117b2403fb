/** A secret that everything it was given to tells on: nothing of it is kept or sent. Source: docs/design/security.md#secrets */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listen, stop, type FakeModel } from '../fakes/model-server.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { deploy, serveHere, writeProject, type Project, type RunningServer } from './binary.ts'
import { caller, type Caller } from './caller.ts'

const SECRET = 'sk-"canary"/+0123456789'
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1)
/** What a leak would look like, also in text that is JSON within JSON. */
const FORMS = [
  SECRET,
  escaped(SECRET),
  escaped(escaped(SECRET)),
  escaped(escaped(escaped(SECRET))),
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString('base64'),
].map((form) => Buffer.from(form))

let model: FakeModel
let echo: Server
let project: Project
let server: RunningServer
let agentId: string
let api: Caller
let key: string

beforeEach(async () => {
  const tools = ['told', 'failing', 'header', 'refusing']
  model = await startFakeOpenai(({ headers, body }, number) => {
    const key = String(headers.authorization)
    if (JSON.stringify(body.messages).includes('Refuse'))
      return { status: 401, error: { message: `No such key: ${key}` } }
    if (number === 1)
      return {
        say: `My key is ${SECRET}, in base64 ${Buffer.from(SECRET).toString('base64')}, in an address ${encodeURIComponent(SECRET)}.`,
        calls: tools.map((name) => ({ id: name, name, arguments: { note: SECRET } })),
      }
    return { say: `I repeat: ${key}` }
  })
  echo = createServer((request, response) => {
    const status = request.url === '/refusing' ? 500 : 200
    request.resume().on('end', () => response.writeHead(status).end(JSON.stringify({ heard: request.headers })))
  })
  const url = await listen(echo)
  project = writeProject({
    'agents/teller.yaml': `
apiVersion: svc/v1
kind: Agent
metadata: { name: teller, namespace: acme, version: 1.0.0 }
secrets: { key: { fromEnv: CANARY } }
spec:
  purpose: Tells everything.
  instructions: { text: Tell. }
  model: { provider: openai-compatible, name: fake, base_url: '${model.url}/v1', secret: key }
  tools: [${tools.map((name) => `{ ref: 'acme.${name}@^1' }`).join(', ')}]
`,
    ...Object.fromEntries(
      tools.map((name) => [
        `tools/${name}.yaml`,
        `
apiVersion: svc/v1
kind: Tool
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
spec: { description: Tells., side_effect_class: read_only, input_schema: { inline: { type: object } } }
`,
      ]),
    ),
    'bundle.yaml': `
apiVersion: svc/v1
kind: Bundle
metadata: { name: teller, namespace: acme, version: 1.0.0 }
spec: { root: agents/teller.yaml }
`,
    'told.mjs': `console.log(JSON.stringify({ key: process.env.CANARY, [process.env.CANARY]: 1 }))`,
    'failing.mjs': `console.error('with ' + process.env.CANARY); process.exit(1)`,
    'svc.config.yaml': `
workspace: canary
tools:
  acme.told: { command: [node, told.mjs], env: [CANARY] }
  acme.failing: { command: [node, failing.mjs], env: [CANARY] }
  acme.header: { http: { url: '${url}/header', headers: { X-Token: '\${CANARY}' } } }
  acme.refusing: { http: { url: '${url}/refusing', headers: { X-Token: '\${CANARY}' } } }
`,
  })
  const access = await deploy(project, 'acme.teller')
  agentId = access.agentId
  key = access.secret
  server = await serveHere(['--data', project.data], {
    cwd: project.directory,
    env: { CANARY: SECRET },
  })
  api = caller(server.url, access.secret)
})
afterEach(async () => {
  await server.stop()
  await Promise.all([model.close(), stop(echo)])
  project.remove()
})

test('what models, tools and servers tell of it is in no answer, event, log line or file', async () => {
  const runs = [await api.start(agentId, { message: 'Tell.' }), await api.start(agentId, { message: 'Refuse.' })]
  const seen: string[] = []
  for (const runId of runs) {
    const settled = await api.settled(runId)
    const conversation = (await api.get(`/v1/runs/${runId}/conversation`)).body
    const stream = await fetch(`${server.url}/v1/runs/${runId}/stream`, { headers: { 'X-API-Key': key } })
    seen.push(JSON.stringify([settled, conversation]), await stream.text())
  }
  const kept = files(project.data).map((path) => [path, readFileSync(path)] as const)
  await server.stop()
  const places = [
    ...seen.map((text, index) => [`answer ${index}`, Buffer.from(text)] as const),
    ['stdout', Buffer.from(server.stdout())] as const,
    ['stderr', Buffer.from(server.stderr())] as const,
    ...kept,
    ...files(project.data).map((path) => [`${path} after the end`, readFileSync(path)] as const),
  ]
  const leaks = places.filter(([, bytes]) => FORMS.some((form) => bytes.includes(form))).map(([name]) => name)
  expect(leaks).toEqual([])
  // It was told everywhere: what is left are its marks.
  expect(seen.map((text) => text.split('***').length > 3)).toEqual([true, true, true, true])
})

const files = (directory: string): readonly string[] =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    const about = statSync(path)
    return about.isDirectory() ? files(path) : about.isFile() ? [path] : []
  })
