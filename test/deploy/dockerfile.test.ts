/** The Dockerfile without a daemon: what it copies is there, who runs it, and that its command starts a server. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { packPackage } from '../packed.ts'
import { svc } from '../cli/recording-io.ts'
import { removeDirectory } from '../remove-directory.ts'

const root = resolve(import.meta.dirname, '../..')
const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .trim()
  .split(/\n+/)
const stages = instructions.join('\n').split(/^(?=FROM )/m)
const last = stages.at(-1)!

test('no user with privileges, no moving base image, and only other stages are copied from', () => {
  expect(last).toMatch(/^USER 10001:10001$/m)
  expect(stages.map((stage) => /^FROM (\S+)/.exec(stage)![1])).toEqual(stages.map(() => 'node:24-bookworm-slim'))
  expect(last).not.toMatch(/^COPY (?!--from=)/m)
  expect(last.match(/^(?:ENTRYPOINT|EXPOSE|STOPSIGNAL|VOLUME).*$/gm)).toEqual([
    'VOLUME /data',
    'EXPOSE 4310 4311 4312',
    'STOPSIGNAL SIGTERM',
    'ENTRYPOINT ["svc"]',
  ])
})

test('every optional peer is installed at the version that the lock pins', () => {
  const home = mkdtempSync(join(tmpdir(), 'svc-image-'))
  try {
    const file = join(home, 'package.json')
    mkdirSync(join(home, 'scripts'))
    copyFileSync(join(root, 'package.json'), file)
    copyFileSync(join(root, 'scripts/image.js'), join(home, 'scripts/image.js'))
    type Package = Record<'dependencies' | 'devDependencies' | 'peerDependencies', Record<string, string>>
    const read = (): Package => JSON.parse(readFileSync(file, 'utf8')) as Package
    const before = read()
    execFileSync(process.execPath, [join(home, 'scripts/image.js')])
    const peers = Object.keys(before.peerDependencies).map((name) => [name, before.devDependencies[name]])
    expect(peers.length).toBeGreaterThan(2)
    expect(read().dependencies).toEqual({ ...before.dependencies, ...Object.fromEntries(peers) })
    const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string }>
    }
    expect(peers.map(([name]) => [name, lock.packages[`node_modules/${name}`]!.version])).toEqual(peers)
  } finally {
    removeDirectory(home)
  }
})

test('the build context holds what the build reads, and no secret', () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  const kept = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  expect(rules[0]).toBe('*')
  expect(kept.filter((path) => !existsSync(join(root, path)))).toEqual([])
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
  const packed = files.filter((path) => !path.startsWith('!') && path !== 'dist')
  const build = readFileSync(join(root, 'scripts/build.js'), 'utf8')
  const inputs = [...build.matchAll(/\[('src'[^\]]*|\.\.\.sources[^\]]*)\]/g)].flatMap(([, list]) =>
    [...list!.matchAll(/'([^']+)'/g)].map(([, path]) => path!),
  )
  expect(inputs.length).toBeGreaterThan(5)
  const isKept = (path: string): boolean => kept.some((each) => path === each || path.startsWith(`${each}/`))
  expect([...packed, ...inputs].filter((path) => !isKept(path))).toEqual([])
  expect(rules).toEqual(expect.arrayContaining(['**/.env', '**/.env.*', '**/.svc']))
})

test(
  'its command serves the project in the working directory, with the data where the image keeps it',
  { timeout: 120_000 },
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'svc-image-'))
    // As in the image: the directory above it is there, and svc makes its own.
    const data = join(home, 'data/svc')
    mkdirSync(join(home, 'data'))
    await svc(['init', 'project', '--full'], { cwd: home })
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(last)![1]!) as string[]
    const server = spawn(process.execPath, [packPackage().program, ...command, '--port', '0', '--host', '127.0.0.1'], {
      cwd: join(home, 'project'),
      env: { PATH: process.env['PATH'], SVC_DATA: data },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      let said = ''
      const url = await new Promise<string>((done, failed) => {
        server.stdout.setEncoding('utf8').on('data', (text: string) => {
          const found = /^ready (\S+)$/m.exec((said += text))?.[1]
          if (found !== undefined) done(found)
        })
        server.on('close', () => failed(new Error(`The server ended. ${said}`)))
      })
      const [program, ...check] = JSON.parse(/HEALTHCHECK .*CMD (\[.*\])$/m.exec(last)![1]!) as string[]
      const environment = { PATH: process.env['PATH'], SVC_DATA: data }
      const health = () =>
        spawnSync(process.execPath, [packPackage().program, ...check], { env: environment, cwd: home })
      expect(program).toBe('svc')
      expect(health()).toMatchObject({ status: 0, stdout: Buffer.from(`ready ${url}\n`) })
      // A mistake in the project file is no reason to restart the server.
      writeFileSync(join(home, 'project/svc.config.yaml'), 'dev: [')
      expect(health().status).toBe(0)
      expect(existsSync(join(data, 'data.db'))).toBe(true)
      const ended = new Promise((done) => server.on('close', done))
      server.kill('SIGTERM')
      expect(await ended).toBe(0)
      expect(health().status).toBe(8)
    } finally {
      server.kill('SIGKILL')
      removeDirectory(home)
    }
  },
)
