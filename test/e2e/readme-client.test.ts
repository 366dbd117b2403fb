import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test, vi } from 'vitest'
import { commandOf } from '../../scripts/tool.js'
import type { InboxItem } from '../../src/operations/tasks.ts'
import { copyExample, deploy, serveHere, svcJson } from './binary.ts'
import { removeDirectory } from '../remove-directory.ts'

const run = promisify(execFile)
const ROOT = resolve(import.meta.dirname, '../..')
const TSX = join(ROOT, 'node_modules/.bin/tsx')

const [, example = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []

// Below the package, so that it is found by its name as a user would name it.
const directory = mkdtempSync(join(ROOT, 'dist/.readme-'))
afterAll(() => removeDirectory(directory))

test('the client example of the README passes the type checker, waits for a person, and runs to its end', async () => {
  const project = copyExample('refund')
  const { secret, agentId } = await deploy(project, 'acme.refund-desk')
  const server = await serveHere(['--data', project.data], { cwd: project.directory })
  try {
    const file = join(directory, 'example.mts')
    const told = `console.log(JSON.stringify([done.status, done.output]))\n`
    writeFileSync(file, example.replace('http://127.0.0.1:4310', server.url) + told)
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node']
    const [node, tsc] = commandOf('tsc')
    await run(node, [tsc, ...options, '--skipLibCheck', '--ignoreConfig', file], { cwd: directory })
    const env = { ...process.env, SVC_API_KEY: secret, SVC_AGENT_ID: agentId }
    const program = run(TSX, [file], { cwd: directory, env })
    const [task] = await vi.waitFor(
      async () => {
        const { items } = await svcJson<{ items: InboxItem[] }>(['inbox', '--data', project.data])
        expect(items).toHaveLength(1)
        return items
      },
      { timeout: 60_000 },
    )
    await svcJson(['approve', task!.userTaskId, '--args-digest', task!.argsDigest!, '--data', project.data])
    const { stdout } = await program
    expect(stdout.trim().split('\n')).toEqual(['WaitingForHITL', expect.any(String), expect.any(String)])
    expect(JSON.parse(stdout.trim().split('\n').at(-1)!)).toEqual(['Completed', { refunded: 180, currency: 'EUR' }])
  } finally {
    await server.stop()
    project.remove()
  }
})
