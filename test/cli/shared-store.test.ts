/** Commands beside a database that servers share, on a machine where none of them holds the data directory. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { toStoreFailure } from '../../src/store/postgres/database/errors.ts'
import { startPostgres } from '../store/postgres-server.ts'
import { svc, temporary } from './recording-io.ts'

const server = startPostgres()
afterAll(() => server?.stop())
const { path: parent, remove } = temporary()
afterAll(remove)

let count = 0
let cwd: string
let other: string
beforeEach(() => {
  cwd = join(parent, `project-${++count}`)
  other = join(parent, `other-${count}`)
})

const write = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const TOOL = `apiVersion: svc/v1
kind: Tool
metadata: { name: look, namespace: acme, version: 1.0.0 }
spec:
  description: Looks.
  side_effect_class: read_only
  input_schema:
    inline: { type: object, additionalProperties: false }
`
const agent = (name: string): string => `apiVersion: svc/v1
kind: Agent
metadata: { name: ${name}, namespace: acme, version: 1.0.0, owner: team, governance: { risk_tier: low } }
spec:
  purpose: Looks.
  instructions: { text: Look. }
  model: { provider: scripted, name: s }
  tools: [{ ref: 'acme.look@^1.0' }]
  limits: { max_tokens_per_run: 1000, max_loop_iterations: 5 }
`

describe.skipIf(!server)('with SVC_STORE', () => {
  const run = (argv: readonly string[], at = cwd) =>
    svc([...argv], { cwd: at, env: { SVC_STORE: server!.url(`shared_${count}`), XDG_CONFIG_HOME: join(cwd, 'user') } })

  beforeEach(async () => {
    write(join(cwd, 'svc.config.yaml'), 'workspace: acme\n')
    expect((await run(['store', 'migrate'])).code).toBe(0)
  })

  test('what one project published is found by another', async () => {
    write(join(cwd, 'tools/look.yaml'), TOOL)
    write(join(cwd, 'agents/desk.yaml'), agent('desk'))
    expect((await run(['publish', '--yes'])).code).toBe(0)
    write(join(other, 'svc.config.yaml'), 'workspace: acme\n')
    write(join(other, 'agents/second.yaml'), agent('second'))
    expect(await run(['compile', 'agents/second.yaml'], other)).toMatchObject({ code: 0 })
    const alone = await svc(['compile', 'agents/second.yaml'], { cwd: other })
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('tool/unresolved')])
  })

  test('a file is refused that only this machine would have', async () => {
    write(join(cwd, 'note.txt'), 'paid twice\n')
    const { code, stderr } = await run(['files', 'upload', 'note.txt'])
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      'error[bucket_not_named]: Servers that share a database need a bucket for files, and storage.url names none.',
    ])
  })

  test('a claim says whose the database is from now on', async () => {
    const claim = ['store', 'migrate', '--claim']
    expect((await run(claim)).stderr).toBe('it belongs to the workspace acme, and to the bucket of its next server\n')
    expect((await run([...claim, '--storage', 's3://files'])).stderr).toBe(
      'it belongs to the workspace acme, and to s3://files\n',
    )
    write(join(cwd, 'svc.config.yaml'), 'workspace: other\n')
    expect((await run(['inbox'])).stderr).toMatch(/^error\[store_of_another\]/)
  })
})

test('an address without a credential, outside of any project, is not taken for a project that is missing', async () => {
  mkdirSync(other)
  const { code, stderr } = await svc(['inbox', '--url', 'https://desk.example'], { cwd: other })
  expect([code, stderr]).toEqual([
    2,
    'error[usage]: Operators sign in at https://desk.example, and no credential was given.\n' +
      '  fix:  --operator-key-file FILE, or SVC_OPERATOR_KEY; svc keys create --operator makes one.\n',
  ])
})

test('a password that is asked for and missing is told in plain words', () => {
  const error = new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string')
  expect(toStoreFailure(error, 'db/svc')).toMatchObject({
    code: 'store_unreachable',
    message: 'The database db/svc cannot be used now: it asks for a password, and none was given.',
  })
})
