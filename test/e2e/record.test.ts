/** `svc test --record` asks the model that the agent names, and a replay asks nobody. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { temporary } from '../cli/recording-io.ts'
import { startFakeOpenai } from '../fakes/openai.ts'
import { svc } from './program.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

test('a scenario is recorded with the real model, and played again without it', async () => {
  const model = await startFakeOpenai([
    { status: 503, error: { message: 'busy' } },
    { say: 'I hear you.', usage: { input: 10, output: 4 } },
  ])
  await svc(['init', 'real', '-t', 'blank'], { cwd: parent })
  const project = join(parent, 'real')
  const agent = join(project, 'agents/assistant.yaml')
  const named = '  model: { provider: local, name: a-model }\n'
  writeFileSync(agent, readFileSync(agent, 'utf8').replace(/  model:\n(?: {4}.*\n?)+/, named))
  const providers = `providers: { local: { type: openai-compatible, base_url: '${model.url}/v1' } }`
  writeFileSync(join(project, 'svc.config.yaml'), `workspace: real\n${providers}\n`)
  mkdirSync(join(project, 'own'))
  writeFileSync(
    join(project, 'own/hello.scenario.yaml'),
    `scenario: the assistant answers
bundle: .
model: { replay: hello.ndjson }
input: { question: Hello }
expect: { status: Completed, output: I hear you. }
`,
  )
  const recorded = await svc(['test', 'own', '--record'], { cwd: project })
  expect([recorded.code, recorded.stdout]).toEqual([0, 'own/hello.scenario.yaml  ✔ the assistant answers\n'])
  expect(model.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
  await model.close()
  expect(await svc(['test', 'own'], { cwd: project })).toMatchObject({
    code: 0,
    stdout: 'own/hello.scenario.yaml  ✔ the assistant answers\n',
  })
})
