/** `svc runs fork --agent --dry`: a version tried on the newest runs of an agent. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { going, svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const run = (...argv: string[]) => svc(argv, { cwd })
const writeAgent = (version: string, answer: string): void => {
  writeFileSync(join(cwd, 'clerk.script.yaml'), `- say: ${answer}\n`)
  writeFileSync(
    join(cwd, 'clerk.yaml'),
    `apiVersion: svc/v1
kind: Agent
metadata: { name: clerk, namespace: acme, version: ${version}, owner: team }
spec:
  purpose: Answers.
  instructions: { text: Answer. }
  model: { provider: scripted, name: clerk, provider_options: { script: clerk.script.yaml } }
`,
  )
}

test('a version is tried on the newest ended runs of its agent, and what cannot be forked at the step is named', async () => {
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: acme\n')
  writeAgent('1.0.0', 'Seven.')
  expect((await run('publish', 'clerk.yaml', '--deploy')).code).toBe(0)
  const server = going(['serve', '--port', '0', '--json'], { cwd })
  await server.line(/"ready"/)
  for (const _ of [1, 2]) expect((await run('run', 'acme.clerk')).code).toBe(0)
  writeAgent('1.1.0', 'Eight.')
  expect((await run('publish', 'clerk.yaml')).code).toBe(0)
  const { items } = JSON.parse((await run('runs', 'list', '--json')).stdout) as { items: { runId: string }[] }
  const ids = items.map(({ runId }) => runId.slice(-6))
  const fork = ['runs', 'fork', '--agent', 'acme.clerk', '--version', '1.1.0', '--dry', '--at']
  expect(await run(...fork, '1')).toMatchObject({
    code: 0,
    stdout: `${ids.map((id) => `${id} as 1.1.0: Completed, with another output\n`).join('')}2 runs: nothing would differ\n`,
  })
  const late = await run(...fork, '90')
  expect([late.code, late.stdout]).toEqual([0, '0 runs: nothing would differ\n'])
  expect(late.stderr).toContain(`${ids[0]} is left out: Run ${items[0]!.runId} has no step 90.`)
  expect(await run('runs', 'fork', '--agent', 'acme.clerk', '--at', '1')).toMatchObject({
    code: 2,
    stderr: 'error[usage]: --agent is for --dry: name the runs that are forked for good.\n',
  })
  await server.end()
})
