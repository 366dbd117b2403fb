import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { crewFrom } from '../../src/cli/lint-crew.ts'
import { createReserve } from '../../src/cli/lint-threads.ts'
import type { Diagnostic } from '../../src/documents/diagnostic.ts'
import { directoryFiles, type Files } from '../../src/documents/files.ts'
import { lint } from '../../src/documents/lint.ts'
import { lintInParts } from '../../src/documents/lint-parts.ts'
import { loadWorkspace } from '../../src/documents/load.ts'

const home = mkdtempSync(join(tmpdir(), 'svc-lint-crew-'))
afterAll(() => rmSync(home, { recursive: true }))

/** More files than one thread is thought to be enough for, in so many bundles; each has something to tell. */
const project = join(home, 'project')
for (let bundle = 0; bundle < 50; bundle++) {
  mkdirSync(join(project, `team-${bundle}`), { recursive: true })
  for (let tool = 0; tool < 10; tool++)
    writeFileSync(
      join(project, `team-${bundle}/tool-${tool}.yaml`),
      `apiVersion: svc/v1\nkind: Tool\nmetadata: {name: tool-${tool}, namespace: team-${bundle}, version: "1"}\nspec: {}\n`,
    )
}

/** What a helper does that has begun and has taken a part, of which nobody else knows. */
const ENDS = [
  ['throws', `throw new Error('lost')`],
  ['exits', 'process.exit(3)'],
]

/**
 * A helper's program.
 * @param answer what it does when it is asked and has taken a part, in a function of its port and the call
 * @param ends what it does when it is told to end
 */
const helperThat = (answer: string, ends = 'parentPort.close()'): string =>
  `exports.help = () => {
    const { parentPort } = require('node:worker_threads')
    parentPort.once('message', ({ begun }) =>
      parentPort.on('message', (call) => {
        if (call === 'end') {
          Atomics.store(begun, 0, 2)
          ${ends}
          return
        }
        Atomics.store(call.taken, call.place, 1)
        ${answer}
        Atomics.store(begun, 0, 1)
        Atomics.notify(begun, 0)
      }),
    )
  }`

/** Lints the project beside a helper. @returns the findings, and 1 or, when it was told to end, 2 */
async function lintBeside(helper: string): Promise<{ findings: readonly Diagnostic[]; begun: number }> {
  const start = join(home, 'start.cjs')
  writeFileSync(start, helper)
  const begun = new Int32Array(new SharedArrayBuffer(4))
  const files = directoryFiles(project)
  const { findings } = await lintInParts(files, {}, {}, (order, own) => {
    /** Nothing is read before the other thread has begun. */
    const readUpTo: Files['readUpTo'] = (path, most) => {
      Atomics.wait(begun, 0, 0)
      return own.readUpTo(path, most)
    }
    return crewFrom(createReserve(start))(Object.assign(order, { begun }), { ...own, readUpTo })
  })
  return { findings, begun: Atomics.load(begun, 0) }
}

test.skipIf(availableParallelism() < 2).each(ENDS)(
  'what a thread had taken that %s is linted by another one',
  async (_, end) => {
    const { findings } = await lintBeside(helperThat(`Atomics.add(call.taken, 0, 1); queueMicrotask(() => { ${end} })`))
    const expected = lint(await loadWorkspace(project))
    expect(expected).toHaveLength(500)
    expect(findings).toEqual(expected)
  },
)

test.skipIf(availableParallelism() < 2)('a thread that has compiled what is to be kept is waited for', async () => {
  const { begun } = await lintBeside(helperThat('parentPort.postMessage(true)'))
  expect(begun).toBe(2)
})

test.skipIf(availableParallelism() < 2)('and when it fails then, nothing is lost', async () => {
  const { findings, begun } = await lintBeside(helperThat('parentPort.postMessage(true)', `throw new Error('full')`))
  expect(begun).toBe(2)
  expect(findings).toHaveLength(500)
})

test('signals are heard before all of many files are linted', async () => {
  const reserve = createReserve(join(home, 'none.cjs'))
  const files = directoryFiles(project)
  const heard = new Promise<number>((resolve) => setImmediate(() => resolve(files.seen!().length)))
  const linted = lintInParts(files, {}, {}, crewFrom(reserve))
  expect(await heard).toBeLessThan(500)
  await linted
  expect(files.seen!()).toHaveLength(500)
})

test.skipIf(availableParallelism() < 2)('and while thousands that belong together are', async () => {
  const bundle = join(home, 'bundle')
  mkdirSync(bundle)
  writeFileSync(
    join(bundle, 'bundle.yaml'),
    'apiVersion: svc/v1\nkind: Bundle\nmetadata: {name: b, namespace: team, version: "1"}\nspec: {root: agent.yaml}\n',
  )
  for (let tool = 0; tool < 1500; tool++) writeFileSync(join(bundle, `tool-${tool}.yaml`), 'kind: Tool\nspec: {}\n')
  const start = join(home, 'idle.cjs')
  writeFileSync(
    start,
    `exports.help = () => {
      const { parentPort } = require('node:worker_threads')
      parentPort.once('message', () => parentPort.once('message', () => parentPort.postMessage(false)))
    }`,
  )
  const files = directoryFiles(bundle)
  const linted = lintInParts(files, {}, {}, crewFrom(createReserve(start)))
  const heard = new Promise<number>((resolve) => setImmediate(() => resolve(files.seen!().length)))
  expect(await heard).toBe(0)
  // What the other thread does not take, this one does.
  const { findings } = await linted
  expect(findings).toEqual(lint(await loadWorkspace(bundle)))
})

const REFUSALS = ['ERR_ACCESS_DENIED', 'ERR_WORKER_INIT_FAILED']

test.each(REFUSALS)('where no thread can be started (%s), this one lints all', async (code) => {
  const start = join(home, 'refused.cjs')
  writeFileSync(start, '')
  const reserve = createReserve(start, () => {
    throw Object.assign(new Error('no thread'), { code })
  })
  const { findings } = await lintInParts(directoryFiles(project, {}, reserve.sees), {}, {}, crewFrom(reserve))
  reserve.close()
  expect(findings).toEqual(lint(await loadWorkspace(project)))
})
