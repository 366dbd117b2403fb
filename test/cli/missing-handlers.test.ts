/** A program that is not there is found before the first call needs it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findMissingHandlers } from '../../src/cli/project/missing-handlers.ts'
import { svc as runSvc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
const cwd = join(parent, 'shop')
const svc = (...argv: string[]) => runSvc(argv, { cwd })

beforeAll(async () => {
  await runSvc(['init', 'shop', '--full'], { cwd: parent })
  mkdirSync(join(cwd, 'bin'))
  writeFileSync(join(cwd, 'bin/there'), '')
})
afterAll(remove)

const find = async (command: readonly string[]): Promise<string | undefined> =>
  (await findMissingHandlers({ directory: cwd, config: { tools: { 'acme.pay': { command: [...command] } } } })).get(
    'acme.pay',
  )?.file

/** What a command names as its file, where that is not there; undefined where nothing is missing, or nothing is certain. */
test.each<[readonly string[], string | undefined]>([
  [['node', 'handlers/gone.mjs'], 'handlers/gone.mjs'],
  [['node', './gone.mjs', '--fast'], './gone.mjs'],
  [['/usr/bin/node', 'gone.mjs'], 'gone.mjs'],
  [['node', '/gone/handler.mjs'], '/gone/handler.mjs'],
  [['python3', 'handlers/gone.py'], 'handlers/gone.py'],
  [['bin/gone'], 'bin/gone'],
  [['./bin/gone', 'x.mjs'], './bin/gone'],
  [['node', 'bin/there'], undefined],
  [['bin/there', 'gone.mjs'], undefined],
  [['node', '--import', 'tsx', 'gone.mjs'], undefined],
  [['node', '-e', '1'], undefined],
  [['bun', 'run'], undefined],
  [['pay-tool', 'gone.mjs'], undefined],
  [['node'], undefined],
])('%o: %s', async (command, missing) => {
  expect(await find(command)).toBe(missing)
})

test('lint, publish and doctor name the tool, the file and the line of the project file', async () => {
  expect((await svc('doctor', 'handlers')).code).toBe(0)
  const kept = readFileSync(join(cwd, 'handlers/refunds.mjs'))
  rmSync(join(cwd, 'handlers/refunds.mjs'))
  const line = readFileSync(join(cwd, 'svc.config.yaml'), 'utf8')
    .split('\n')
    .findIndex((each) => each.includes('handlers/refunds.mjs'))
  const place = `svc.config.yaml:${line + 1}`
  const words = `Its program handlers/refunds.mjs does not exist; ${place} names it.`
  const linted = await svc('lint', '--format', 'compact')
  expect(linted.stdout).toMatch(/^tools\/refunds\.yaml:\d+:\d+ +warn +tool\/handler-missing /m)
  expect(linted.stdout).toContain(words)
  const planned = await svc('publish', '--plan')
  expect(planned.stderr + planned.stdout).toContain(words)
  expect(await svc('doctor', 'handlers')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(
      `acme.refunds is run by handlers/refunds.mjs, which does not exist (${place})`,
    ) as string,
  })
  writeFileSync(join(cwd, 'handlers/refunds.mjs'), kept)
  expect((await svc('lint', '--format', 'compact')).stdout).not.toContain('handler-missing')
})
