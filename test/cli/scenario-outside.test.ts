/** Scenarios of runs that wait: for a time, a signal, and work outside. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const FILES: Readonly<Record<string, string>> = {
  'svc.config.yaml': 'workspace: parcels\n',
  'bundle.yaml': `apiVersion: svc/v1
kind: Bundle
metadata: { name: parcels, namespace: acme, version: 1.0.0 }
spec: { root: agent.yaml }
`,
  'agent.yaml': `apiVersion: svc/v1
kind: Agent
metadata: { name: clerk, namespace: acme, version: 1.0.0, owner: team }
spec:
  purpose: Waits for a parcel, then runs a job.
  instructions: { text: Wait for the parcel. }
  model: { provider: scripted, name: clerk, provider_options: { script: clerk.script.yaml } }
  tools:
    - ref: svc.wait_until@^1
    - ref: svc.wait_event@^1
    - ref: acme.job@^1.0
  limits: { max_tokens_per_run: 20000, max_loop_iterations: 8 }
`,
  'job.yaml': `apiVersion: svc/v1
kind: Tool
metadata:
  name: job
  namespace: acme
  version: 1.0.0
  labels: { svc/completion: external, svc/completion-timeout: 6h }
spec:
  description: Starts a long job.
  input_schema: { inline: { type: object, properties: {}, additionalProperties: false } }
  side_effect_class: non_idempotent_write
`,
  'clerk.script.yaml': `- call: { tool: wait_until, arguments: { after: 30m } }
- when: { contains: Hurry }
  say: Hurried.
- call: { tool: wait_event, arguments: { name: parcel.delivered, schema: { type: object, required: [id] } } }
- call: { tool: job, arguments: {} }
- say: 'Parcel \${results.wait_event.data.id}: \${results.job.rows} rows.'
`,
}

beforeAll(() => {
  for (const [name, text] of Object.entries(FILES)) write(name, text)
})

function write(name: string, text: string): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true })
  writeFileSync(join(cwd, name), text)
}

async function play(rest: string, job = '{ result: accepted }') {
  write('one.scenario.yaml', `scenario: a parcel\nbundle: .\ntools: { acme.job: ${job} }\n${rest}`)
  const { code, stdout } = await svc(['test'], { cwd })
  return { code, stdout }
}

test('a time, a signal and a report come in virtual time', async () => {
  const given = await play(`outside:
  - { signal: parcel.delivered, data: { id: P-7 }, after: 1h }
  - { complete: acme.job, result: { rows: 12 }, after: 2h }
expect:
  status: Completed
  output: 'Parcel P-7: 12 rows.'
  calls: [{ tool: acme.job, times: 1 }]
`)
  expect(given).toEqual({ code: 0, stdout: 'one.scenario.yaml  ✔ a parcel  3 h 30 min (virtual)\n' })
})

test('a signal whose data does not fit fails the scenario with the reason', async () => {
  const { code, stdout } = await play('outside: [{ signal: parcel.delivered, data: { nr: 7 } }]\n')
  expect(code).toBe(1)
  expect(stdout).toContain('what comes from outside is refused: The data of the signal parcel.delivered is not valid')
})

test('a signal that never comes is named as a wait without an end', async () => {
  const { code, stdout } = await play('outside: []\n')
  expect(code).toBe(1)
  expect(stdout).toContain('the run waits for something that never comes')
})

test('what nobody reports in time is put before a person', async () => {
  const { code } = await play(`outside: [{ signal: parcel.delivered, data: { id: P-7 } }]
decide: [{ task: anomaly_review, option: stop }]
expect: { status: Failed, error_code: tool_failed, calls: [{ tool: acme.job, times: 1 }] }
`)
  expect(code).toBe(0)
})

test('work outside is not begun while its tool is paused, and begins once it goes on', async () => {
  const given = await play(`outside:
  - { signal: parcel.delivered, data: { id: P-7 } }
  - { pause: { tool: acme.job } }
  - { resume: { all: true }, after: 40m }
  - { resume: { tool: acme.job }, after: 2h }
  - { complete: acme.job, result: { rows: 12 } }
expect: { status: Completed, holds: [timer, paused, external], calls: [{ tool: acme.job, times: 1 }] }
`)
  expect(given).toEqual({ code: 0, stdout: 'one.scenario.yaml  ✔ a parcel  2 h (virtual)\n' })
})

test('a message to the working run is taken up before its next completion', async () => {
  const given = await play(`outside: [{ steer: 'Hurry up.', after: 10m }]
expect: { status: Completed, output: Hurried. }
`)
  expect(given).toEqual({ code: 0, stdout: 'one.scenario.yaml  ✔ a parcel  30 min (virtual)\n' })
})

test.each([
  ['outside: [{ pause: { tool: acme.jobs } }]', 'tool "acme.jobs": no published version uses it'],
  ['outside: [{ resume: { agent: acme.clark }, after: 5m }]', 'No such agent'],
  [
    'outside: [{ pause: { tool: acme.job, agent: acme.clerk } }]',
    'outside[0].pause names one thing: `all: true`, or an agent, version, tool or provider.',
  ],
  ['expect: { holds: [tool_unreachable] }', 'tool_unreachable'],
])('%s is told as what it is', async (rest, message) => {
  const { code, stdout } = await play(`${rest}\n`)
  expect([code, stdout.includes(message), stdout]).toEqual([1, true, stdout])
})

test('a tool that cannot be reached holds the run until it can', async () => {
  const { code } = await play(
    `outside:
  - { signal: parcel.delivered, data: { id: P-7 } }
  - { complete: acme.job, result: { rows: 12 } }
expect: { status: Completed, holds: [tool_unreachable], calls: [{ tool: acme.job, times: 1 }] }
`,
    '{ result: accepted, unreachable: 5m }',
  )
  expect(code).toBe(0)
})

test('an interrupt drops the completion under way, and what it would have called is not called; steering waits for it', async () => {
  write(
    'clerk.script.yaml',
    `- when: { contains: Enough }
  say: Done.
- delay_ms: 20000
  call: { tool: job, arguments: {} }
- say: Never.
`,
  )
  const scenario = (act: string, times: number): string => `outside:
  - { ${act}: Enough., after: 10s }
  - { complete: acme.job, result: { rows: 12 }, after: 1h }
expect: { status: Completed, output: Done., calls: [{ tool: acme.job, times: ${times} }] }
`
  const given = [await play(scenario('interrupt', 0)), await play(scenario('steer', 1))]
  write('clerk.script.yaml', FILES['clerk.script.yaml']!)
  expect(given).toEqual([
    { code: 0, stdout: 'one.scenario.yaml  ✔ a parcel  10 s (virtual)\n' },
    { code: 0, stdout: 'one.scenario.yaml  ✔ a parcel  60 min 20 s (virtual)\n' },
  ])
})
