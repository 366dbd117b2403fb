/** Files that stand in a bundle beside its documents. */
import { describe, expect, test } from 'vitest'
import { lintWorkspace } from '../../src/documents/lint/lint.ts'
import { loadFiles } from '../../src/documents/workspace/load.ts'
import { complete } from './complete.ts'

const BUNDLE = complete({
  'desk/bundle.yaml': 'kind: Bundle\n',
  'desk/agent.yaml':
    'kind: Agent\nspec: {instructions: {ref: texts/desk.md, version: 2}}\noutput: {format: json, strict: true, schema: {ref: schemas/answer.json}}\n',
  'desk/texts/desk-2.md': 'Help.\n',
  'desk/schemas/answer.json': '{"type": "object", "properties": {"a": {"$ref": "amount.json"}}}',
  'desk/schemas/amount.json': '{"type": "number"}',
})

const told = (rule: string, files: Readonly<Record<string, string>>): string[] =>
  lintWorkspace(loadFiles({ ...BUNDLE, ...files })).flatMap((each) => (each.rule === rule ? [each.message] : []))

describe('a file of keys', () => {
  test.each([
    '.env',
    '.env.local',
    '.env.production',
    'config/.env',
    'prod.env',
    'keys/server.pem',
    'tls.key',
    'id_ed25519',
    'store.jks',
    'credentials.json',
    'client_secret_123.json',
    'service-account-prod.json',
    'acme-firebase-adminsdk-x1.json',
    '.netrc',
    '.pgpass',
    '.git-credentials',
  ])('is told: %s', (path) => {
    expect(told('bundle/secret-file', { [`desk/${path}`]: 'x\n' })).toEqual([
      `desk/${path} looks like a key file and is in the bundle.`,
    ])
  })

  test('is reported for settings of npm that hold a token', () => {
    const npmrc = (text: string) => told('bundle/secret-file', { 'desk/.npmrc': text })
    expect(npmrc('registry=https://npm.example/\n//npm.example/:_authToken=${NPM_TOKEN}\n')).toEqual([])
    expect(npmrc('//npm.example/:_authToken=abc\n')).toHaveLength(1)
  })

  test.each(['.env.example', '.env.sample', 'id_rsa.pub', 'environment.md', 'keys.md', 'monkey.txt', 'credentials.md'])(
    'is not %s',
    (path) => {
      expect(told('bundle/secret-file', { [`desk/${path}`]: 'x\n' })).toEqual([])
    },
  )

  test.each([
    ['.gitignore', '.env\n', []],
    ['.gitignore', '/desk/\n', []],
    ['desk/.gitignore', '.env*\n', []],
    ['desk/.gitignore', '.env*\n!.env\n', ['desk/.env looks like a key file and is in the bundle.']],
    ['other/.gitignore', '.env\n', ['desk/.env looks like a key file and is in the bundle.']],
  ])('that %s leaves out with %j is no fault', (path, text, messages) => {
    expect(told('bundle/secret-file', { 'desk/.env': 'A=b\n', [path]: text })).toEqual(messages)
  })

  test("outside the bundle is nobody's fault", () => {
    expect(told('bundle/secret-file', { '.env': 'A=b\n' })).toEqual([])
  })
})

describe('a file that nothing names', () => {
  test.each([
    'notes.md',
    'todo.txt',
    'texts/desk-1.md',
    'texts/old.md',
    'schemas/old.json',
    'prompts/other.md',
    'prompts/desk',
  ])('is told: %s', (path) => {
    expect(told('bundle/unreferenced-file', { [`desk/${path}`]: '{}\n' })).toEqual([
      `Nothing in this bundle names desk/${path}.`,
    ])
  })

  test.each([
    'README.md',
    'readme.md',
    'LICENSE',
    'LICENSE.txt',
    'CHANGELOG.md',
    'AGENTS.md',
    'CONTRIBUTING.md',
    'requirements.txt',
    'texts/README.md',
    'docs/design.md',
    'samples/letter.txt',
    'handlers/refunds.mjs',
    'policies/refunds.policytest.yaml',
    'scenarios/small.scenario.yaml',
    'svc.config.yaml',
    'svc.lock',
    'package.json',
    'prompts/.gitkeep',
    '.editorconfig',
  ])('is not told where it is there for something else: %s', (path) => {
    expect(told('bundle/unreferenced-file', { [`desk/${path}`]: '{}\n' })).toEqual([])
  })

  test('may be named by the project file', () => {
    const files = {
      'desk/notes.md': 'x\n',
      'desk/svc.config.yaml': 'tools: {notes.read: {command: [cat, notes.md]}}\n',
    }
    expect(told('bundle/unreferenced-file', files)).toEqual([])
  })
})
