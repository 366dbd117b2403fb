import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { writeUserFile } from '../../src/base/files/write-file.ts'
import { temporary } from '../cli/recording-io.ts'

/** Files are written as on a disk that fills up after some bytes, while this is set. */
const disk = vi.hoisted(() => ({ room: Infinity }))
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const writeFile: typeof real.writeFile = async (file, data, options) => {
    const text = data as string
    await real.writeFile(file, text.slice(0, disk.room), options)
    if (text.length > disk.room)
      throw Object.assign(new Error('ENOSPC: full, write'), { code: 'ENOSPC', syscall: 'write' })
  }
  return { ...real, writeFile }
})

const { path: parent, remove } = temporary()
afterAll(remove)
let folders = 0
function folder(): string {
  const directory = join(parent, String(folders++))
  mkdirSync(directory)
  return directory
}

test('a full disk leaves the file that was there whole, and no other behind', async () => {
  const directory = folder()
  const file = join(directory, 'agent.yaml')
  writeFileSync(file, 'kind: Agent\n')
  disk.room = 5
  await expect(writeUserFile(file, 'kind: Agent # and more\n')).rejects.toThrow(
    `${file} cannot be written: no space is left on the device`,
  )
  await expect(writeUserFile(join(directory, 'new.yaml'), 'kind: Tool\n')).rejects.toThrow('no space is left')
  disk.room = Infinity
  expect(readFileSync(file, 'utf8')).toBe('kind: Agent\n')
  expect(readdirSync(directory)).toEqual(['agent.yaml'])
})

test('a file keeps its mode, and a link stays a link', async () => {
  const directory = folder()
  writeFileSync(join(directory, 'run.mjs'), 'old')
  chmodSync(join(directory, 'run.mjs'), 0o751)
  symlinkSync('run.mjs', join(directory, 'link'))
  await writeUserFile(join(directory, 'link'), 'new')
  expect(readFileSync(join(directory, 'run.mjs'), 'utf8')).toBe('new')
  expect(statSync(join(directory, 'run.mjs')).mode & 0o777).toBe(0o751)
  expect(lstatSync(join(directory, 'link')).isSymbolicLink()).toBe(true)
  expect(readdirSync(directory)).toEqual(['link', 'run.mjs'])
})

test('a link to nothing makes what it leads to', async () => {
  const directory = folder()
  symlinkSync('later.yaml', join(directory, 'link'))
  await writeUserFile(join(directory, 'link'), 'new')
  expect(readFileSync(join(directory, 'later.yaml'), 'utf8')).toBe('new')
})

test('a file is private from its first byte on where that is asked for', async () => {
  const file = join(folder(), '.env')
  await writeUserFile(file, 'A=1\n', 0o600)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a pipe is written, not replaced', async () => {
  const pipe = join(folder(), 'pipe')
  execFileSync('mkfifo', [pipe])
  const reading = import('node:fs').then(({ promises }) => promises.readFile(pipe, 'utf8'))
  await writeUserFile(pipe, 'text')
  expect(await reading).toBe('text')
  expect(statSync(pipe).isFIFO()).toBe(true)
})
