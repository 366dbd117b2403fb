import { afterAll, beforeAll, expect, test } from 'vitest'
import { svc, svcJson } from './binary.ts'
import { caller, type Json } from './caller.ts'
import { openClerk, type Clerk } from './clerk.ts'

const agent = (name: string, model: string, more = ''): string => `
apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0 }
${more}
spec:
  purpose: Shows what cannot be started.
  instructions: { text: Begin. }
  model: ${model}
`

let clerk: Clerk
beforeAll(async () => {
  clerk = await openClerk({
    config: 'plan: { runs_per_day: 3 }\nproviders: { house: { type: scripted } }\n',
    files: {
      'agents/odd.yaml': agent(
        'odd',
        '{ provider: mystery, name: m-1 }',
        'secrets: { mystery: { fromEnv: MYSTERY_KEY } }',
      ),
      'agents/keyless.yaml': agent(
        'keyless',
        '{ provider: openai, name: gpt-5 }',
        'secrets: { openai: { fromEnv: KEYLESS_OPENAI_KEY } }',
      ),
      'agents/house.yaml': agent(
        'house',
        '{ provider: house, name: h, provider_options: { script: models/house.yaml } }',
      ),
      'models/house.yaml': '- say: From the house.\n',
    },
  })
})
afterAll(() => clerk.close())

/** Publishes an agent by itself, with a trigger and a key. */
const open = async (name: string, { deploy = true } = {}) => {
  const at = ['--data', clerk.project.data]
  const where = { cwd: clerk.project.directory }
  await svcJson(['publish', `agents/${name}.yaml`, ...(deploy ? ['--deploy'] : []), ...at], where)
  const made = await svcJson<Json>(['triggers', 'create', `acme.${name}`, '--type', 'api', '--name', 'api', ...at])
  const { secret } = await svcJson<Json>(['keys', 'create', '--agent', `acme.${name}`, '--trigger', 'api', ...at])
  const api = caller(clerk.server.url, secret)
  return { ...api, begin: () => api.post(`/v1/agents/${made.agentId}/runs`, {}), agentId: made.agentId as string }
}

test('an agent without a deployed version cannot be started', async () => {
  const helper = await open('helper', { deploy: false })
  const { status, body } = await helper.begin()
  expect([status, body.code]).toEqual([409, 'no_deployed_version'])
})

test('a model of a provider that nobody mapped is told at the start', async () => {
  const odd = await open('odd')
  const { status, body } = await odd.begin()
  expect([status, body.code]).toEqual([422, 'provider_not_configured'])
  expect(body.error).toContain('mystery')
  expect((await odd.get(`/v1/agents/${odd.agentId}/sessions`)).body.total).toBe(0)
})

test('a secret that is not set is told at the start, by the name of its variable', async () => {
  const keyless = await open('keyless')
  const { status, body } = await keyless.begin()
  expect([status, body.code]).toEqual([422, 'secret_not_set'])
  expect(body.error).toContain('KEYLESS_OPENAI_KEY')
})

test('a provider that the config maps runs, and the plan counts the starts of the workspace', async () => {
  const house = await open('house')
  const first = await house.begin()
  expect(await house.settled(first.body.runId)).toMatchObject({ status: 'Completed', output: 'From the house.' })
  const codes: unknown[] = []
  for (let at = 0; at < 3; at++) codes.push((await house.begin()).body.code)
  expect(codes).toEqual([undefined, undefined, 'plan_limit_exceeded'])
  const { status, headers } = await house.begin()
  expect(status).toBe(403)
  expect(headers.get('x-request-id')).toBeTruthy()
})

test('a second server on the same directory is refused, and the first goes on', async () => {
  const second = await svc(['serve', '--port', '0', '--json', '--data', clerk.project.data], {
    cwd: clerk.project.directory,
  })
  expect([second.code, second.stdout]).toEqual([6, ''])
  expect((await fetch(`${clerk.server.url}/v1/healthz`)).status).toBe(200)
})
