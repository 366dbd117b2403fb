import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { going, svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

let cwd: string
let count = 0
beforeEach(() => {
  cwd = join(parent, `project-${(count += 1)}`)
  mkdirSync(cwd)
  writeFileSync(join(cwd, 'svc.config.yaml'), 'workspace: acme\n')
})
const read = (name: string): string => readFileSync(join(cwd, name), 'utf8')

const AGENT = `apiVersion: svc/v1
kind: Agent
metadata: { name: desk, namespace: acme, version: 1.0.0, owner: o, governance: { risk_tier: low } }
secrets: { anthropic: { fromEnv: ANTHROPIC_API_KEY } }
spec:
  purpose: Help.
  instructions: Help.
  model: { provider: anthropic, name: m }
  limits: { max_tokens_per_run: 1000 }
`

describe('svc secrets set', () => {
  test('asks without showing what is typed; only the owner reads the file, git ignores it, and nothing prints it', async () => {
    const { code, stdout, stderr } = await svc(['secrets', 'set', 'VENDOR_KEY'], {
      cwd,
      tty: true,
      answers: ['sk-swordfish-1234'],
    })
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: `VENDOR_KEY is in ${join(cwd, '.env')} (17 chars, eccb); git ignores it\n`,
      stderr: '',
    })
    expect(read('.env')).toBe('VENDOR_KEY=sk-swordfish-1234\n')
    expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600)
    expect(read('.gitignore')).toBe('.env\n.env.*\n')
  })

  test('replaces the value, and keeps every other line, comment and rule', async () => {
    writeFileSync(
      join(cwd, '.env'),
      '# keys\nA=1\nexport VENDOR_KEY="old\nkey" # mine\nB=2\nVENDOR_KEY=older\nVENDOR_KEY_2=3',
      {
        mode: 0o644,
      },
    )
    writeFileSync(join(cwd, '.gitignore'), 'dist\n.env')
    expect(await svc(['secrets', 'set', 'VENDOR_KEY', '--json'], { cwd, stdin: 'new key\n' })).toMatchObject({
      code: 0,
    })
    expect(read('.env')).toBe('# keys\nA=1\nVENDOR_KEY=new key\nB=2\nVENDOR_KEY_2=3')
    expect(statSync(join(cwd, '.env')).mode & 0o777).toBe(0o600)
    expect(read('.gitignore')).toBe('dist\n.env\n.env.*\n')
  })

  test.each(['a#b', "it's", '"quoted"', 'a\nb', 'back\\nslash', '  inner  spaces', '$HOME', '`x`'])(
    'a value of %j is read back as it was given',
    async (value) => {
      expect(await svc(['secrets', 'set', 'KEY'], { cwd, stdin: value })).toMatchObject({ code: 0 })
      expect(parseEnv(read('.env'))).toEqual({ KEY: value.trim() })
    },
  )

  test('the name of a declared secret stands for its variable', async () => {
    writeFileSync(join(cwd, 'agent.yaml'), AGENT)
    const { stdout } = await svc(['secrets', 'set', 'anthropic', '--json'], { cwd, stdin: 'sk-1234567890' })
    expect(JSON.parse(stdout)).toMatchObject({ name: 'ANTHROPIC_API_KEY' })
    expect(parseEnv(read('.env'))).toEqual({ ANTHROPIC_API_KEY: 'sk-1234567890' })
  })

  test.each([
    ['bad-name', 'x', '"bad-name" is not a variable name.'],
    ['KEY', ' \n', 'No value was given for KEY; nothing was written.'],
    ['KEY', 'x'.repeat(65_537), 'The value of KEY is longer than 65536 characters; nothing was written.'],
    ['KEY', '\'"`', 'The value of KEY has all kinds of quotes, which .env cannot hold.'],
  ])('%s with a value that cannot be kept is refused', async (name, stdin, message) => {
    const { code, stderr } = await svc(['secrets', 'set', name], { cwd, stdin })
    expect(code).toBe(2)
    expect(stderr).toContain(`error[usage]: ${message}`)
    expect(existsSync(join(cwd, '.env'))).toBe(false)
  })

  test('what takes precedence over it is said', async () => {
    writeFileSync(join(cwd, '.env.local'), 'KEY=other\n')
    expect((await svc(['secrets', 'set', 'KEY'], { cwd, stdin: 'x1' })).stderr).toBe(
      'KEY is also set in .env.local:1, which takes precedence.\n',
    )
    expect((await svc(['secrets', 'set', 'KEY'], { cwd, stdin: 'x1', env: { KEY: 'y' } })).stderr).toBe(
      'KEY is also set in the environment, which takes precedence.\n',
    )
  })
})

test('svc dev says at its start which key is missing, and how to set it', async () => {
  writeFileSync(join(cwd, 'agent.yaml'), AGENT)
  const server = going(['dev', '--port', '0', '--no-watch'], { cwd })
  await server.line(/^ready /m)
  const line =
    '  key      ANTHROPIC_API_KEY (missing, model anthropic of acme.desk)   svc secrets set ANTHROPIC_API_KEY'
  await expect.poll(() => server.world.stderr()).toContain(line)
  await server.end()
})
