/** `svc init --model`: every template with a real model is clean, and its scenarios need no key. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { templateNames } from '../../src/cli/init/template.ts'
import { svc, temporary } from './recording-io.ts'

const { path: parent, remove } = temporary()
afterAll(remove)

const init = async (name: string, template: string, model: string): Promise<string> => {
  const { code, stderr } = await svc(['init', name, '-t', template, '--model', model], { cwd: parent })
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
  return join(parent, name)
}

describe.each(await templateNames())('template %s with a real model', (template) => {
  test('is clean and formatted, and its scenarios pass with their scripts', async () => {
    const cwd = await init(`${template}-real`, template, 'anthropic')
    expect(await svc(['lint', '--max-warnings', '0'], { cwd })).toMatchObject({ code: 0 })
    expect(await svc(['fmt', '--check'], { cwd })).toMatchObject({ code: 0 })
    const { code, stdout } = await svc(['test', '--json'], { cwd })
    expect({ code, stdout: code === 0 ? '' : stdout }).toEqual({ code: 0, stdout: '' })
  })
})

test('each agent names the model and the variable of its key; the next step sets it', async () => {
  const { stderr } = await svc(['init', 'desk', '--full', '--model', 'openai'], { cwd: parent })
  expect(stderr).toContain('next:  cd desk && svc secrets set OPENAI_API_KEY && svc dev')
  for (const name of ['refund-desk', 'fraud-check']) {
    const text = readFileSync(join(parent, 'desk/agents', `${name}.yaml`), 'utf8')
    expect(text).toContain('secrets:\n  openai:\n    fromEnv: OPENAI_API_KEY\n')
    expect(text).toContain('  model:\n    provider: openai\n    name: gpt-5-mini\n')
    expect(text).not.toContain('scripted')
  }
  const { stdout } = await svc(['secrets', 'check', '--json'], { cwd: join(parent, 'desk') })
  expect((JSON.parse(stdout) as { items: { state: string }[] }).items.map(({ state }) => state)).toEqual([
    'missing',
    'missing',
  ])
})

test('Ollama is reached on this machine, by the settings of the project, and wants no key', async () => {
  const cwd = await init('local', 'blank', 'ollama')
  expect(readFileSync(join(cwd, 'agents/assistant.yaml'), 'utf8')).not.toContain('secrets:')
  const secrets = await svc(['secrets', 'check', '--json'], { cwd })
  expect(JSON.parse(secrets.stdout)).toEqual({ ok: true, items: [] })
  expect(readFileSync(join(cwd, 'svc.config.yaml'), 'utf8')).toContain(
    'providers:\n  ollama: { type: openai-compatible, base_url: http://127.0.0.1:11434/v1 }\n',
  )
  expect(await svc(['lint', '--max-warnings', '0'], { cwd })).toMatchObject({ code: 0 })
})

test('a script for an agent that the scenario cannot start is refused by name', async () => {
  const cwd = await init('typo', 'refund', 'anthropic')
  const file = join(cwd, 'scenarios/small.scenario.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('acme.fraud-check:', 'acme.fraud-chek:'))
  const { code, stdout, stderr } = await svc(['test', file], { cwd })
  expect(code).not.toBe(0)
  expect(stdout + stderr).toMatch(/No such agent acme\.fraud-chek\.[^]*Did you mean acme\.fraud-check\?/)
})
