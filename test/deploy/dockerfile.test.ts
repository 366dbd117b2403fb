/** The Dockerfile without a daemon: what it copies is there, who runs it, and that its command starts a server. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { packPackage } from '../packed.ts'
import { imageManifest } from '../../scripts/image.js'
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

test('every dependency and every optional peer is installed, at the version with which the tests ran', () => {
  const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as object
  expect(read('deploy/image/package.json')).toEqual(imageManifest())
  type Lock = {
    readonly packages: Record<
      string,
      { readonly version: string; readonly integrity?: string; readonly inBundle?: true }
    >
  }
  const locks = ['package-lock.json', 'scripts/tools/package-lock.json', 'deploy/image/package-lock.json']
  const [checkout, tools, image] = locks.map((path) => Object.entries((read(path) as Lock).packages).slice(1))
  const tested = new Map([...tools!, ...checkout!].map(([path, { version }]) => [path, version]))
  expect(image!.length).toBeGreaterThan(100)
  expect(image!.filter(([path, { version }]) => tested.get(path) !== version)).toEqual([])
  expect(image!.filter(([, { integrity, inBundle }]) => integrity === undefined && !inBundle)).toEqual([])
})

test('the build runs on the build context alone, which holds no secret', { timeout: 300_000 }, () => {
  const rules = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  expect(rules[0]).toBe('*')
  expect(rules).toEqual(expect.arrayContaining(['**/.env', '**/.env.*', '**/.svc']))
  const kept = rules.filter((rule) => rule.startsWith('!')).map((rule) => rule.slice(1))
  const context = mkdtempSync(join(tmpdir(), 'svc-image-'))
  try {
    for (const path of execFileSync('git', ['ls-files', '-z', '--', ...kept], { cwd: root, encoding: 'utf8' }).split(
      '\0',
    ))
      if (path !== '') cpSync(join(root, path), join(context, path))
    for (const path of ['node_modules', 'scripts/tools/node_modules'])
      symlinkSync(join(root, path), join(context, path), 'junction')
    const { stderr, status } = spawnSync(process.execPath, ['scripts/build.js', '--types'], {
      cwd: context,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] }
    const packed = files.filter((path) => !/[!*]/.test(path))
    expect(packed.filter((path) => !existsSync(join(context, path)))).toEqual([])
  } finally {
    removeDirectory(context)
  }
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
