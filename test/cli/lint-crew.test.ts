import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createReserve } from '../../src/cli/lint-crew.ts'
import { directoryFiles } from '../../src/documents/files.ts'
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

test.skipIf(availableParallelism() < 2).each(ENDS)(
  'what a thread had taken that %s is linted by another one',
  async (_, end) => {
    const start = join(home, 'start.cjs')
    writeFileSync(
      start,
      `exports.help = () => {
        const { parentPort } = require('node:worker_threads')
        parentPort.once('message', ({ begun }) =>
          parentPort.on('message', ({ taken, place }) => {
            Atomics.store(taken, place, 1)
            Atomics.add(taken, 0, 1)
            Atomics.store(begun, 0, 1)
            Atomics.notify(begun, 0)
            ${end}
          }),
        )
      }`,
    )
    const begun = new Int32Array(new SharedArrayBuffer(4))
    const files = directoryFiles(project)
    const { findings } = await lintInParts(files, {}, {}, (order, own) => {
      /** Nothing is read before the other thread has its part. */
      const read = (path: string): Uint8Array | undefined => {
        Atomics.wait(begun, 0, 0)
        return own.read(path)
      }
      return createReserve(start).crewFor(Object.assign(order, { begun }), { ...own, read })
    })
    const expected = lint(await loadWorkspace(project))
    expect(expected).toHaveLength(500)
    expect(findings).toEqual(expected)
  },
)

const REFUSALS = ['ERR_ACCESS_DENIED', 'ERR_WORKER_INIT_FAILED']

test.each(REFUSALS)('where no thread can be started (%s), this one lints all', async (code) => {
  const start = join(home, 'refused.cjs')
  writeFileSync(start, '')
  const reserve = createReserve(start, () => {
    throw Object.assign(new Error('no thread'), { code })
  })
  const { findings } = await lintInParts(directoryFiles(project, {}, reserve.sees), {}, {}, reserve.crewFor)
  reserve.close()
  expect(findings).toEqual(lint(await loadWorkspace(project)))
})
