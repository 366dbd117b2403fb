/** Whatever the file system answers for a path that somebody named, a command says which path and why, and ends with no 70. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { exitCodes } from '../../src/cli/shell/exit-codes.ts'
import { commandTable } from '../../src/cli/table/table.ts'
import { globalOptions } from '../../src/cli/shell/global-options.ts'
import { isLong } from '../cases.ts'
import { going, svc as runSvc, temporary, type Going, type Ran } from './recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'
import { newKeyPair, trustValue } from '../spec/trust/makers.ts'

/** A path with `refuse-EACCES` in it is answered with that error: the tests run as a user whom no permission stops. */
const { refusing } = vi.hoisted(() => ({
  refusing: <M extends object>(module: M): M => {
    const refuse = (name: string, path: unknown): void => {
      const code = typeof path === 'string' ? /refuse-([A-Z]+)/.exec(path)?.[1] : undefined
      if (code === undefined) return
      const syscall = /^(?:stat|lstat|readdir|mkdir)/.exec(name)?.[0].replace('readdir', 'scandir') ?? 'open'
      throw Object.assign(new Error(`${code}: refused, ${syscall} '${String(path)}'`), { code, syscall, path })
    }
    const wrapped = Object.entries(module).map(([name, value]: [string, unknown]) => {
      if (typeof value !== 'function' || /^[A-Z]|^(?:exists|create)/.test(name)) return [name, value]
      const act = value as (...args: unknown[]) => unknown
      return [
        name,
        (...args: unknown[]) =>
          name.endsWith('Sync') ? (refuse(name, args[0]), act(...args)) : later(name, act, args),
      ]
    })
    const later = async (name: string, act: (...args: unknown[]) => unknown, args: unknown[]): Promise<unknown> => {
      refuse(name, args[0])
      if (name === 'rename') refuse(name, args[1])
      return await act(...args)
    }
    return Object.fromEntries(wrapped) as M
  },
}))
vi.mock('node:fs', async (original) => refusing(await original<object>()))
vi.mock('node:fs/promises', async (original) => refusing(await original<object>()))

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const env = { XDG_CONFIG_HOME: join(parent, 'user'), HOME: parent }
const svc = (argv: readonly string[]): Promise<Ran> => runSvc([...argv, '--timeout', '20s'], { cwd, env })

const AGENT = 'acme.refund-desk'
let server: Going

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent, env })
  writeFileSync(join(cwd, 'file'), 'text\n')
  writeFileSync(join(cwd, 'one.jsonl'), '{"input":{"order":"A-1","amount":5},"checks":[{"status":"Completed"}]}\n')
  writeFileSync(join(cwd, 'spec.yaml'), 'component_type: Agent\nname: spec\n')
  appendFileSync(join(cwd, '.svcignore'), 'spec.yaml\n')
  symlinkSync('loop', join(cwd, 'loop'))
  // No part of the bundle: commands that compile it get as far as their own path.
  appendFileSync(join(cwd, '.svcignore'), 'loop\n')
  const pair = newKeyPair()
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' })
  writeFileSync(join(parent, 'key.pem'), pem, { mode: 0o600 })
  writeFileSync(join(cwd, 'trust.yaml'), JSON.stringify(trustValue({ ana: pair })))
  server = going(['dev', '--port', '0', '--json', '--no-watch'], { cwd, env })
  await server.line(/"ready"/)
  await svc(['run', AGENT, 'order=A-1', 'amount=5'])
  await svc(['files', 'upload', 'file'])
  await svc(['bundle', 'pack', '-o', 'bundle.tgz'])
  await svc(['audit', 'export', 'acts.tar'])
})
// Some commands make what is missing.
beforeEach(() => {
  for (const name of ['absent', 'folder', 'other']) removeDirectory(join(cwd, name))
  mkdirSync(join(cwd, 'folder'))
})
afterAll(async () => {
  await server.end()
  remove()
})

const elsewhere = ['--port', '0', '--no-watch', '--data', 'other']

/** Each option and argument that is a path, by command: `%` is that path. */
const lines: Readonly<Record<string, readonly (readonly string[])[]>> = {
  init: [['init', '%']],
  demo: [['demo', '--speed', '0', '--keep', '%']],
  lint: [['lint', '%']],
  fmt: [['fmt', '%']],
  compile: [
    ['compile', '%'],
    ['compile', '--out', '%'],
  ],
  eval: [
    ['eval', '%'],
    ['eval', 'one.jsonl', '--junit', '%'],
  ],
  'eval from-runs': [['eval', 'from-runs', '--agent', AGENT, '--out', '%']],
  'import docker-agent': [['import', 'docker-agent', '%']],
  'import agent-spec': [
    ['import', 'agent-spec', '%'],
    ['import', 'agent-spec', 'spec.yaml', '--component', '%'],
  ],
  'import mcp': [['import', 'mcp', '%']],
  'gateway wrap': [['gateway', 'wrap', '%', '--yes']],
  'gateway unwrap': [['gateway', 'unwrap', '%', '--yes']],
  'policy test': [['policy', 'test', '%']],
  'policy eval': [
    ['policy', 'eval', '--tool', 'acme.refunds', '--args', '@%'],
    ['policy', 'eval', '--tool', 'acme.refunds', '--args', '{}', '--context', '@%'],
    ['policy', 'eval', '--tool', 'acme.refunds', '--args', '{}', '--policy', '%'],
  ],
  'policy backtest': [['policy', 'backtest', '--policies', '%']],
  test: [
    ['test', '%'],
    ['test', '--filter', 'timeout', '--replay', '%'],
    ['test', '--filter', 'timeout', '--record', '--replay', '%'],
  ],
  'bundle tree': [['bundle', 'tree', '%']],
  'bundle sbom': [
    ['bundle', 'sbom', '%'],
    ['bundle', 'sbom', '-o', '%'],
  ],
  'bundle pack': [
    ['bundle', 'pack', '%', '-o', 'out.tgz'],
    ['bundle', 'pack', '-o', '%'],
  ],
  'bundle verify': [['bundle', 'verify', '%']],
  verify: [
    ['verify', '%.tgz', '--trust', 'trust.yaml'],
    ['verify', 'bundle.tgz', '--trust', '%'],
  ],
  'trust check': [['trust', 'check', '%']],
  'trust sign': [
    ['trust', 'sign', '%', '--sign', '../key.pem'],
    ['trust', 'sign', 'trust.yaml', '--sign', '%'],
    ['trust', 'sign', 'trust.yaml', '--sign', '../key.pem', '-o', '%'],
  ],
  'trust install': [['trust', 'install', '%']],
  'trust key': [['trust', 'key', '%']],
  deploy: [
    ['deploy', AGENT, '--sign', '../key.pem', '--prepare', '%'],
    ['deploy', AGENT, '--sign', '../key.pem', '--statement', '%'],
  ],
  'bundle diff': [
    ['bundle', 'diff', '%', '.'],
    ['bundle', 'diff', 'bundle.tgz', '%'],
  ],
  publish: [['publish', '%', '--plan']],
  dev: [
    ['dev', '%', ...elsewhere],
    ['dev', '--record', '%', ...elsewhere],
    ['dev', '--replay', '%', ...elsewhere],
  ],
  serve: [
    ['serve', '%', '--port', '0', '--data', 'other'],
    ['serve', '--admin-socket', '%', '--port', '0', '--data', 'other'],
  ],
  backup: [['backup', '%']],
  'audit export': [['audit', 'export', '%']],
  'audit checkpoint': [
    ['audit', 'checkpoint', '%', '--key', '../audit.pem'],
    ['audit', 'checkpoint', '../audit.log', '--key', '%'],
  ],
  'audit verify': [
    ['audit', 'verify', '%'],
    ['audit', 'verify', 'acts.tar', '--extends', '%'],
    ['audit', 'verify', 'acts.tar', '--log', '%', '--trust', 'file'],
    ['audit', 'verify', 'acts.tar', '--log', 'file', '--trust', '%'],
  ],
  restore: [
    ['restore', '%', ...elsewhere],
    ['restore', '--resume', '--happened', '%', ...elsewhere],
  ],
  run: [
    ['run', AGENT, '--input', '%'],
    ['run', AGENT, 'order=<%'],
    ['run', AGENT, 'order@%'],
    ['run', AGENT, 'order=A-1', 'amount=5', '--decide', '%'],
    ['run', AGENT, 'order=A-1', 'amount=5', '--record', '%'],
    ['run', AGENT, 'order=A-1', 'amount=5', '--replay', '%'],
  ],
  'runs conversation': [['runs', 'conversation', '@last', '--html', '%']],
  send: [['send', '@last', 'hello', '--attach', '%']],
  'files upload': [['files', 'upload', '%']],
  'files get': [['files', 'get', 'file', '-o', '%']],
  api: [['api', 'POST', '/v1/runs/x/cancel', '--input', '%']],
  openapi: [['openapi', '-o', '%']],
  'config set': [['config', 'set', 'dev.port', '4320', '--config', '%']],
  // Of all commands.
  '': [
    ['lint', '--cwd', '%'],
    ['lint', '--config', '%'],
    ['agents', 'list', '--data', '%'],
    ['keys', 'list', '--data', '%'],
    ['publish', '--data', '%'],
    ['serve', '--port', '0', '--data', '%'],
    ['dev', '--port', '0', '--no-watch', '--data', '%'],
    ['reset', '--all', '--yes', '--data', '%'],
    ['doctor', 'data', 'database', 'permissions', '--data', '%'],
    ['compile', '--data', '%'],
    ['restore', 'bundle.tgz', '--data', '%'],
    ['runs', 'get', '@last', '--key-file', '%'],
    ['agents', 'list', '--operator-key-file', '%'],
  ],
}

const PLACES: Readonly<Record<string, string>> = {
  'in a folder that does not exist': 'absent/x',
  'below a file': 'file/x',
  'in a circle of links': 'loop',
  'where nothing can be made': '/proc/x/y',
  'with a name that is too long': 'n'.repeat(300),
  'on a full disk, and without an end': '/dev/full',
  'that may not be touched': 'refuse-EACCES',
  'on a disk that is read-only': 'refuse-EROFS',
  'on a broken disk': 'refuse-EIO',
  'that is a directory': 'folder',
}

test('every option and argument that is a path is tried here', () => {
  const isPath = /^-.*<(?:file|dir)>|--policies <path>|--admin-socket <path>/
  const tried = (path: string): string => (lines[path] ?? []).flat().join(' ')
  const missed = commandTable.flatMap(({ path, options = [] }) =>
    options.flatMap(({ flags }) => {
      const option = /--[\w-]+/.exec(flags)![0]
      const short = /^-\w/.exec(flags)?.[0] ?? option
      const line = tried(path)
      return isPath.test(flags) && !line.includes(option) && !line.includes(`${short} %`) ? [`${path} ${option}`] : []
    }),
  )
  const global = globalOptions.flatMap(({ flags }) => {
    const option = /--[\w-]+/.exec(flags)![0]
    return isPath.test(flags) && !tried('').includes(option) ? [option] : []
  })
  expect([...missed, ...global]).toEqual([])
})

/** All of a table in a long run, else every fourth from a place on: each command meets other places, and each place other commands. */
const everyFourth = <T>(all: readonly T[], from: number): readonly T[] =>
  isLong ? all : all.filter((_, index) => (index + from) % 4 === 0)

describe.each(Object.entries(PLACES).map((each, index) => [...each, index] as const))(
  'a path %s',
  (_, place, index) => {
    test.each(everyFourth(Object.values(lines).flat(), index).map((line) => [line.join(' '), line] as const))(
      'svc %s',
      async (_text, line) => {
        const lasting = ['dev', 'serve'].includes(line[0]!)
        const argv = line.map((word) => word.replace('%', place))
        const { code, stderr } = lasting ? await startAndEnd(argv) : await svc(argv)
        expect(exitCodes).toHaveProperty(String(code))
        expect({ code, stderr }).not.toMatchObject({ code: 70 })
        expect(stderr).not.toContain('internal')
      },
    )
  },
)

test('a data directory below a file is reported as such, also where a command only reads', async () => {
  const { code, stderr } = await svc(['runs', 'list', '--data', 'file'])
  expect(code).toBe(2)
  expect(stderr).toContain('file cannot be used as a data directory: a part of the path is a file, not a directory.')
})

test.each([
  ['compile', '--out'],
  ['bundle', 'pack', '-o'],
  ['openapi', '-o'],
])('svc %s %s writes into no directory that is missing', async (...words) => {
  const { code, stderr } = await svc([...words, 'absent/x'])
  expect([code, stderr]).toEqual([
    5,
    `error[file_missing]: ${join(cwd, 'absent')} cannot be written to: there is no such file or directory.\n  fix:  Check the path.\n`,
  ])
  expect(existsSync(join(cwd, 'absent'))).toBe(false)
})

test('the directory of svc compile --out is made', async () => {
  expect((await svc(['compile', '--out', 'absent'])).code).toBe(0)
  expect(readdirSync(join(cwd, 'absent'))).toEqual(['acme.fraud-check.json', 'acme.refund-desk.json'])
})

test('a file that lies where a server would put its socket is kept', async () => {
  const { code, stderr } = await startAndEnd(['serve', '--admin-socket', 'file', '--port', '0', '--data', 'other'])
  expect(code).toBe(2)
  expect(stderr).toContain('file cannot be used as a socket: something else lies there.')
  expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('text\n')
})

/** A server that can start in spite of the path is ended again. */
async function startAndEnd(argv: readonly string[]): Promise<Pick<Ran, 'code' | 'stderr'>> {
  const lasting = going([...argv, '--json'], { cwd, env })
  await lasting.line(/"ready"/).catch(() => undefined)
  const code = await lasting.end()
  return { code, stderr: lasting.world.stderr() }
}

test.each(['--data', '--config'])(
  'an empty %s, as of an unset variable, is refused instead of ignored',
  async (option) => {
    const { code, stdout, stderr } = await svc(['lint', option, ''])
    expect({ code, stdout, stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `error[usage]: ${option} names nothing.\n`,
    })
  },
)
