/** The template `coder`: a client of MCP works through the gate, and its push waits for a person. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitUntil } from '../wait-until.ts'
import { copyTemplate, serveHere, svcJson, type Project, type RunningServer } from './binary.ts'

const SVC = resolve(import.meta.dirname, '../../bin/svc.js')

let project: Project
let server: RunningServer

beforeAll(async () => {
  project = copyTemplate('coder')
  server = await serveHere(['bundle.yaml', '--data', project.data], { cwd: project.directory })
})

afterAll(async () => {
  await server.stop()
  project.remove()
})

interface Inbox {
  readonly items: readonly { readonly tool: string; readonly userTaskId: string; readonly argsDigest: string }[]
}

test('a coding agent mends the project by itself, and pushes once a person has seen it', async () => {
  const at = { cwd: project.directory }
  const client = execa(process.execPath, ['client.mjs', process.execPath, SVC], at)
  let inbox: Inbox = { items: [] }
  await waitUntil(async () => {
    inbox = await svcJson<Inbox>(['inbox', '--data', project.data], at)
    return inbox.items.length > 0
  })
  const [task] = inbox.items
  expect(task).toMatchObject({ tool: 'acme.git.push' })
  expect(existsSync(join(project.directory, 'pushes.log'))).toBe(false)
  await svcJson(['approve', task!.userTaskId, '--args-digest', task!.argsDigest, '--data', project.data], at)
  const { stdout } = await client
  expect(stdout.split('\n').map((line) => line.slice(0, 30))).toEqual([
    'tools: list, read, write, run,',
    '> run {}',
    '{"ok":false,"report":"TAP vers',
    '> read {"path":"src/sum.mjs"}',
    '{"text":"export const sum = (a',
    '> write {"path":"src/sum.mjs",',
    '{"path":"src/sum.mjs"}',
    '> run {}',
    '{"ok":true,"report":"TAP versi',
    '> push {"branch":"main","messa',
    '{"branch":"main"}',
  ])
  const read = (path: string): string => readFileSync(join(project.directory, path), 'utf8')
  expect(read('project/src/sum.mjs')).toBe('export const sum = (a, b) => a + b\n')
  expect(read('pushes.log').match(/\n/g)).toHaveLength(1)
})
