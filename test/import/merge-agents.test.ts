/** An import of agents over documents that their author has edited. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { svc } from '../cli/recording-io.ts'

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'svc-merge-'))
  write('svc.config.yaml', 'workspace: merge\n')
})

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(cwd, path)), { recursive: true })
  writeFileSync(join(cwd, path), text)
}
const read = (path: string): string => readFileSync(join(cwd, path), 'utf8')
const edit = (path: string, from: string, to: string): void => {
  expect(read(path)).toContain(from)
  write(path, read(path).replace(from, to))
}

interface Team {
  readonly tools?: readonly string[]
  readonly ask?: readonly string[]
  readonly url?: string
  readonly token?: string
  readonly instruction?: string
  readonly description?: string
  readonly command?: string
}

const team = ({
  tools = ['find', 'pay'],
  ask = ['pay'],
  url,
  token,
  instruction,
  description,
  command = 'serve',
}: Team): string =>
  JSON.stringify({
    permissions: { ask },
    agents: {
      root: {
        model: 'openai/gpt-5.4',
        description: description ?? 'Pays invoices.',
        instruction: instruction ?? 'You pay.',
        toolsets: [
          {
            type: 'mcp',
            name: 'bank',
            remote: {
              url: url ?? 'https://bank.example/mcp',
              headers: { Authorization: `Bearer \${${token ?? 'BANK_TOKEN'}}` },
            },
            tools,
          },
          { type: 'mcp', name: 'local', command, tools: ['note'] },
        ],
      },
    },
  })

async function importTeam(
  given: Team,
): Promise<{ readonly changed: Record<string, string>; readonly questions: string[] }> {
  write('team.yaml', team(given))
  const { stdout } = await svc(['import', 'docker-agent', 'team.yaml', '--json'], { cwd })
  const answer = JSON.parse(stdout) as {
    documents: { path: string; action: string }[]
    questions: { path: string; what: string }[]
  }
  return {
    changed: Object.fromEntries(
      answer.documents.filter(({ action }) => action !== 'unchanged').map(({ path, action }) => [path, action]),
    ),
    questions: answer.questions.map(({ path, what }) => `${path} ${what}`),
  }
}

const AGENT = 'agents/team/root.yaml'

test('what the author wrote stays, and what the source changed comes', async () => {
  await importTeam({})
  edit(AGENT, 'purpose: Pays invoices.', 'purpose: Pays what is due. # ours')
  edit(
    AGENT,
    '    - ref: team.bank_find@^1.0.0',
    '    # Reads only.\n    - ref: team.bank_find@^1.0.0\n      side_effect_class: irreversible_action',
  )
  edit('tools/team/bank_find.yaml', '  # TODO(import)', '  # Answered')
  edit('tools/team/bank_find.yaml', 'irreversible_action', 'read_only')
  expect(await importTeam({ tools: ['find', 'pay', 'refund'], instruction: 'You pay and refund.' })).toEqual({
    changed: {
      [AGENT]: 'changed',
      'prompts/team/root.md': 'changed',
      'tools/team/bank_refund.yaml': 'created',
    },
    questions: [],
  })
  expect(read('prompts/team/root.md')).toBe('You pay and refund.\n')
  expect(read('tools/team/bank_find.yaml')).toContain('side_effect_class: read_only')
  expect(read(AGENT)).toContain('purpose: Pays what is due. # ours')
  expect(read(AGENT)).toContain('    # Reads only.\n    - ref: team.bank_find@^1.0.0\n')
  expect(read(AGENT)).toContain('- ref: team.bank_refund@^1.0.0')
})

test('what both changed is a question, and the side of the author stays', async () => {
  await importTeam({})
  edit(AGENT, 'purpose: Pays invoices.', 'purpose: Ours.')
  write('prompts/team/root.md', 'Ours.\n')
  expect(await importTeam({ description: 'Theirs.', instruction: 'Theirs.' })).toEqual({
    changed: {},
    questions: [
      `${AGENT} spec.purpose: the source says "Theirs."; yours stays`,
      'prompts/team/root.md you and the source changed this text; yours stays',
    ],
  })
  expect(read('prompts/team/root.md')).toBe('Ours.\n')
})

test.each<[string, Team, string[]]>([
  [
    'asks no more',
    { ask: [] },
    [
      'imports/team.docker-agent.json policies/team/asks-first.yaml is no longer in the source; what it became stays',
      `${AGENT} spec.tools.1.policies: the source says that it is gone; yours stays`,
    ],
  ],
  [
    'sends the secret elsewhere',
    { url: 'https://elsewhere.example/mcp' },
    [`${AGENT} spec.mcp_servers.0.url: the source says "https://elsewhere.example/mcp"; yours stays`],
  ],
  [
    'sends another secret',
    { token: 'OTHER_TOKEN' },
    [`${AGENT} secrets.bank_token.fromEnv: the source says "OTHER_TOKEN"; yours stays`],
  ],
  [
    'runs another program',
    { command: 'other' },
    ['svc.config.yaml mcp_servers.https://local.team.invalid/mcp.command: the source says ["other"]; yours stays'],
  ],
  [
    'drops a tool',
    { tools: ['pay'] },
    [
      'imports/team.docker-agent.json tools/team/bank_find.yaml is no longer in the source; what it became stays',
      `${AGENT} spec.tools.0: the source says that it is gone; yours stays`,
    ],
  ],
])('a source that %s changes nothing by itself', async (_, next, questions) => {
  await importTeam({})
  const before = [read(AGENT), read('svc.config.yaml')]
  expect((await importTeam(next)).questions).toEqual(questions)
  expect([read(AGENT), read('svc.config.yaml')]).toEqual(before)
})

test('a source that asks before more calls is stricter, and comes', async () => {
  await importTeam({})
  expect((await importTeam({ ask: ['pay', 'find'] })).changed).toEqual({ [AGENT]: 'changed' })
  expect(read(AGENT).match(/asks-first/g)).toHaveLength(2)
})

test('a document that the author deleted stays deleted, and one that no import wrote is left as it is', async () => {
  write(
    'bundle.yaml',
    'apiVersion: svc/v1\nkind: Bundle\nmetadata: { name: own, namespace: own, version: 1.0.0 }\nspec: { root: agents/own.yaml }\n',
  )
  expect((await importTeam({})).questions).toEqual(['bundle.yaml was not written by an import, and is left as it is'])
  rmSync(join(cwd, 'tools/team/bank_find.yaml'))
  expect((await importTeam({})).changed).toEqual({ 'bundle.yaml': 'kept', 'tools/team/bank_find.yaml': 'removed' })
})

test('what the source allows without a person passes with --trust-allow alone, and is never made twice', async () => {
  write('team.yaml', team({ ask: [] }).replace('"ask":[]', '"allow":["find"]'))
  const without = await svc(['import', 'docker-agent', 'team.yaml'], { cwd })
  expect(without.code).toBe(3)
  expect(without.stdout).toContain('the source allows its calls without a person')
  rmSync(join(cwd, 'agents'), { recursive: true })
  rmSync(join(cwd, 'imports'), { recursive: true })
  rmSync(join(cwd, 'tools'), { recursive: true })
  const trusted = await svc(['import', 'docker-agent', 'team.yaml', '--trust-allow'], { cwd })
  expect(trusted.code).toBe(0)
  const { stdout } = await svc(['compile', '--matrix'], { cwd })
  expect(stdout).toContain('team.bank_find\tallow\tdefault\tnon_idempotent_write')
  expect(stdout).toContain('team.bank_pay\trequire_approval\tdefault\tirreversible_action')
})
