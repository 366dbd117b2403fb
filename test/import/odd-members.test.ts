/** Members of foreign sources that are of another type than the one that is read: nothing is lost without a word, and no rule. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { svc } from '../cli/recording-io.ts'

interface Place {
  /** Files of a source `source` with this value at the place. */
  readonly filesWith: (value: JsonValue) => Readonly<Record<string, JsonValue | string>>
  readonly takes: 'text' | 'mapping' | 'list' | 'texts' | 'names' | 'count'
  /** Without it a call might be authorized, checked or directed otherwise. */
  readonly isAuthority?: true
}

const docker = (root: JsonObject) => ({ source: { agents: { root: { model: 'openai/m' } }, ...root } })
const dockerAgent = (agent: JsonObject) => docker({ agents: { root: { model: 'openai/m', ...agent } } })
const dockerTools = (toolset: JsonObject) => dockerAgent({ toolsets: [{ type: 'mcp', command: 'x', ...toolset }] })
const claude = (fields: JsonObject, settings: JsonObject = {}) => ({
  'source/.claude/agents/a.md': `---\n${JSON.stringify(fields)}\n---\nHelp.\n`,
  'source/.claude/settings.json': settings,
})
const spec = (agent: JsonObject) => ({
  source: { component_type: 'Agent', name: 'a', system_prompt: 'Help.', ...agent },
})
const specTool = (tool: JsonObject) => spec({ tools: [{ component_type: 'ServerTool', name: 't', ...tool }] })

const PLACES: Readonly<Record<string, Place>> = {
  'docker-agent models': { takes: 'mapping', filesWith: (models) => docker({ models }) },
  'docker-agent providers': { takes: 'mapping', filesWith: (providers) => docker({ providers }) },
  'docker-agent mcps': { takes: 'mapping', filesWith: (mcps) => docker({ mcps }) },
  'docker-agent permissions': {
    takes: 'mapping',
    isAuthority: true,
    filesWith: (permissions) => docker({ permissions }),
  },
  'docker-agent deny': { takes: 'texts', isAuthority: true, filesWith: (deny) => docker({ permissions: { deny } }) },
  'docker-agent ask': { takes: 'texts', isAuthority: true, filesWith: (ask) => docker({ permissions: { ask } }) },
  'docker-agent model': { takes: 'text', filesWith: (model) => dockerAgent({ model }) },
  'docker-agent description': { takes: 'text', filesWith: (description) => dockerAgent({ description }) },
  'docker-agent instruction': { takes: 'text', filesWith: (instruction) => dockerAgent({ instruction }) },
  'docker-agent toolsets': { takes: 'list', filesWith: (toolsets) => dockerAgent({ toolsets }) },
  'docker-agent sub_agents': { takes: 'texts', filesWith: (names) => dockerAgent({ sub_agents: names }) },
  'docker-agent max_iterations': { takes: 'count', filesWith: (most) => dockerAgent({ max_iterations: most }) },
  'docker-agent structured_output': { takes: 'mapping', filesWith: (form) => dockerAgent({ structured_output: form }) },
  'docker-agent tools': { takes: 'texts', filesWith: (tools) => dockerTools({ tools }) },
  'docker-agent args': { takes: 'texts', filesWith: (args) => dockerTools({ args }) },
  'docker-agent env': { takes: 'mapping', filesWith: (env) => dockerTools({ env }) },
  'claude tools': { takes: 'names', filesWith: (tools) => claude({ tools }) },
  'claude disallowedTools': {
    takes: 'names',
    isAuthority: true,
    filesWith: (disallowedTools) => claude({ disallowedTools }),
  },
  'claude maxTurns': { takes: 'count', filesWith: (maxTurns) => claude({ maxTurns }) },
  'claude skills': { takes: 'names', filesWith: (skills) => claude({ skills }) },
  'claude permissions': {
    takes: 'mapping',
    isAuthority: true,
    filesWith: (permissions) => claude({}, { permissions }),
  },
  'claude deny': { takes: 'texts', isAuthority: true, filesWith: (deny) => claude({}, { permissions: { deny } }) },
  'claude ask': { takes: 'texts', isAuthority: true, filesWith: (ask) => claude({}, { permissions: { ask } }) },
  'agent-spec system_prompt': { takes: 'text', filesWith: (prompt) => spec({ system_prompt: prompt }) },
  'agent-spec tools': { takes: 'list', filesWith: (tools) => spec({ tools }) },
  'agent-spec toolboxes': { takes: 'list', filesWith: (toolboxes) => spec({ toolboxes }) },
  'agent-spec inputs': { takes: 'list', isAuthority: true, filesWith: (inputs) => specTool({ inputs }) },
}

const ODD: readonly JsonValue[] = ['words', 7, true, { a: 1 }, [1], [['x']]]

const fits = (value: JsonValue, takes: Place['takes']): boolean => {
  if (takes === 'mapping') return typeof value === 'object' && !Array.isArray(value)
  if (takes === 'list') return Array.isArray(value)
  if (takes === 'count') return value === 7
  return (takes === 'text' || takes === 'names') && value === 'words'
}

test.each(Object.entries(PLACES))('%s of another type is named among what is lost', async (place, about) => {
  const [format = '', member] = place.split(' ')
  for (const value of ODD.filter((each) => !fits(each, about.takes))) {
    const cwd = mkdtempSync(join(tmpdir(), 'svc-odd-'))
    for (const [file, text] of Object.entries({ 'svc.config.yaml': '{}', ...about.filesWith(value) })) {
      mkdirSync(dirname(join(cwd, file)), { recursive: true })
      writeFileSync(join(cwd, file), typeof text === 'string' ? text : JSON.stringify(text))
    }
    const { stdout, stderr, code } = await svc(['import', format, 'source', '--json'], { cwd })
    const { lost } = JSON.parse(stdout) as { lost: { what: string; authority: boolean }[] }
    const named = lost.find(({ what }) => what.startsWith(`"${member}" `))
    const isAuthority = about.isAuthority === true
    expect([JSON.stringify(value), stderr, named?.authority ?? 'unnamed', isAuthority ? code : 3]).toEqual([
      JSON.stringify(value),
      '',
      isAuthority,
      3,
    ])
  }
})

test('a confirmation that is neither required nor not is required', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'svc-odd-'))
  writeFileSync(join(cwd, 'svc.config.yaml'), '{}')
  writeFileSync(join(cwd, 'source'), JSON.stringify(specTool({ requires_confirmation: 'yes' }).source))
  const { stdout } = await svc(['import', 'agent-spec', 'source', '--json'], { cwd })
  expect(stdout).toContain('policies/a/asks-first.yaml')
})
