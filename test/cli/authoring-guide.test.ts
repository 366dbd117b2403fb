/** What coding agents read: its documents are a project that passes every check which the page asks for. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { svc, temporary } from './recording-io.ts'

const { path: cwd, remove } = temporary()
afterAll(remove)

const GUIDE = readFileSync(resolve(import.meta.dirname, '../../templates/AGENTS.md'), 'utf8')

beforeAll(() => {
  for (const [, comment, path, text] of GUIDE.matchAll(/^```\w+\n(?:#|(\/\/)) (\S+)\n(.*?)^```$/gms)) {
    const file = join(cwd, path!)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, comment === undefined ? `# ${path}\n${text}` : text!)
  }
})

test('the documents of the guide lint without a finding and are formatted', async () => {
  const { stdout } = await svc(['lint', '--json', '--max-warnings', '0'], { cwd })
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, errors: 0, warnings: 0, diagnostics: [] })
  expect(await svc(['fmt', '--check'], { cwd })).toMatchObject({ code: 0 })
})

test('its policy tests pass and cover every policy, and its scenarios pass', async () => {
  const { code, stderr } = await svc(['policy', 'test', '--coverage'], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('coverage 100%') as string })
  expect(JSON.parse((await svc(['test', '--json'], { cwd })).stdout)).toMatchObject({ ok: true })
})

test('every command that it names exists, with its options', async () => {
  const { commands } = JSON.parse((await svc(['help', '--tree', '--json'], { cwd })).stdout) as {
    commands: { path: string; options?: { flags: string }[] }[]
  }
  const known = new Map(commands.map(({ path, options = [] }) => [path, options.map(({ flags }) => flags).join(' ')]))
  const globals = ['--json']
  const named = [...GUIDE.matchAll(/\bsvc ((?:policy |bundle |secrets )?[a-z]+)((?: --[a-z-]+)*)/g)].filter(
    ([, path]) => !['itself', 'does'].includes(path!),
  )
  expect(named.length).toBeGreaterThan(12)
  for (const [, path, options] of named) {
    expect([...known.keys()].filter((each) => each === path || each.startsWith(`${path} `))).not.toEqual([])
    for (const option of options!.split(' ').filter((each) => each !== '' && !globals.includes(each)))
      expect(`${path}: ${known.get(path!)}`).toContain(option)
  }
})
