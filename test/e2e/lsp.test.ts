/** The language server, asked by a client library: over streams in memory, and once as the real binary over its standard streams. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { createConnection } from 'vscode-languageserver/node'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeAction,
  type CodeLens,
  type CompletionItem,
  type DocumentSymbol,
  type Hover,
  type Location,
  type MarkupContent,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  type RegistrationParams,
  type TextEdit,
  type WorkspaceEdit,
  type WorkspaceSymbol,
} from 'vscode-languageserver-protocol/node'
import { answerEditor } from '../../src/cli/commands/author/lsp.ts'
import type { CommandContext } from '../../src/cli/shell/command.ts'
import { createWorld } from '../cli/recording-io.ts'
import { copyExample, endWithTests, svc, type Project } from './binary.ts'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const DESK = 'agents/refund-desk.yaml'

let project: Project
let client: ProtocolConnection
let waiting: (() => void)[]
const diagnosticsByUri = new Map<string, PublishDiagnosticsParams['diagnostics']>()
/** Version of the text for which the last were sent. */
const versions = new Map<string, number | undefined>()

const uri = (path: string): string => pathToFileURL(join(project.directory, path)).href
const original = (path: string): string => readFileSync(join(project.directory, path), 'utf8')

beforeEach(async () => {
  project = copyExample('refund')
  diagnosticsByUri.clear()
  versions.clear()
  waiting = []
  const [toServer, fromServer] = [new PassThrough(), new PassThrough()]
  // Over readers, not streams: the end of those would end the process.
  const connection = createConnection(new StreamMessageReader(toServer), new StreamMessageWriter(fromServer))
  const { io } = createWorld({ cwd: project.directory })
  answerEditor(connection, { io, cwd: project.directory, globals: {} } as unknown as CommandContext)
  await openClient(fromServer, toServer, null)
})

/** @param processId of the editor, whose end would end the server */
async function openClient(from: Readable, to: Writable, processId: number | null): Promise<void> {
  client = createProtocolConnection(new StreamMessageReader(from), new StreamMessageWriter(to))
  client.onNotification(
    'textDocument/publishDiagnostics',
    ({ uri, diagnostics, version }: PublishDiagnosticsParams) => {
      diagnosticsByUri.set(uri, diagnostics)
      versions.set(uri, version)
      for (const look of waiting) look()
    },
  )
  const registers = new Promise((done) =>
    client.onRequest('client/registerCapability', (asked: RegistrationParams) => {
      done(asked)
      return null
    }),
  )
  client.listen()
  const { capabilities } = await client.sendRequest<{ capabilities: object }>('initialize', {
    processId,
    rootUri: pathToFileURL(project.directory).href,
    capabilities: {
      workspace: {
        workspaceEdit: { documentChanges: true, resourceOperations: ['create'] },
        didChangeWatchedFiles: { dynamicRegistration: true },
      },
      textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } },
    },
  })
  expect(capabilities).toMatchObject({ hoverProvider: true, definitionProvider: true })
  await client.sendNotification('initialized', {})
  // The editor is asked to tell of files that change beside it.
  expect(await registers).toMatchObject({ registrations: [{ method: 'workspace/didChangeWatchedFiles' }] })
}

afterEach(async () => {
  await client.sendRequest('shutdown')
  client.dispose()
  project.remove()
})

/** Resolves with the findings of one rule in a file, as `line:column message`, as soon as there are so many findings. */
function diagnostics(path: string, rule: string, count: number): Promise<readonly string[]> {
  return new Promise((done) => {
    const look = (): void => {
      const found = diagnosticsByUri.get(path.includes(':') ? path : uri(path))?.filter(({ code }) => code === rule)
      if (found?.length !== count) return
      const lines = found.map(
        ({ range, message }) =>
          `${range.start.line + 1}:${range.start.character + 1} ${(message as string).split('\n')[0]}`,
      )
      waiting = waiting.filter((each) => each !== look)
      done(lines)
    }
    waiting.push(look)
    look()
  })
}

async function openText(path: string, text: string): Promise<void> {
  await client.sendNotification('textDocument/didOpen', {
    textDocument: { uri: uri(path), languageId: 'yaml', version: 1, text },
  })
}

async function changeText(path: string, text: string): Promise<void> {
  await client.sendNotification('textDocument/didChange', {
    textDocument: { uri: uri(path), version: 2 },
    contentChanges: [{ text }],
  })
}

/** The text without its `|`, and where that stood. */
function splitAtMark(text: string): { text: string; position: { line: number; character: number } } {
  const lines = text.slice(0, text.indexOf('|')).split('\n')
  return { text: text.replace('|', ''), position: { line: lines.length - 1, character: lines.at(-1)!.length } }
}

/** Opens the text and asks at its mark. */
async function requestAtMark<T>(method: string, path: string, withMark: string): Promise<T> {
  const { text, position } = splitAtMark(withMark)
  await openText(path, text)
  return await client.sendRequest<T>(`textDocument/${method}`, { textDocument: { uri: uri(path) }, position })
}

/** The text after an edit of whole lines. */
function applyEdit(text: string, { range: { start, end }, newText }: TextEdit): string {
  expect([start.character, end.character]).toEqual([0, 0])
  const lines = text.split(/(?<=\n)/)
  return [...lines.slice(0, start.line), newText, ...lines.slice(end.line)].join('')
}

const labelsOf = (items: readonly CompletionItem[]): string[] => items.map(({ label }) => label)

test('the binary answers over its standard streams and ends with 0 when the editor says so', async () => {
  const inMemory = client
  // Clients of the protocol that start a program add the flag by themselves.
  const server = spawn(process.execPath, [BIN, 'lsp', '--stdio'], {
    cwd: project.directory,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  endWithTests(server)
  await openClient(server.stdout, server.stdin, process.pid)
  const broken = original(DESK).replace('acme.refunds@^1.0', 'acme.refund@^1.0')
  await openText(DESK, broken)
  expect(await diagnostics(DESK, 'tool/unresolved', 1)).toHaveLength(1)
  const shown = await client.sendRequest<Hover>('textDocument/hover', {
    textDocument: { uri: uri(DESK) },
    position: splitAtMark(broken.replace('max_loop', 'max|_loop')).position,
  })
  expect(shown.contents).toMatchObject({ kind: 'markdown' })
  const ended = new Promise<number | null>((done) => server.on('exit', done))
  await client.sendRequest('shutdown')
  await client.sendNotification('exit')
  expect(await ended).toBe(0)
  client.dispose()
  client = inMemory
})

test('findings appear as one types and go when the fault goes', async () => {
  const text = original(DESK)
  await openText(DESK, text.replace('acme.refunds@^1.0', 'acme.refund@^1.0'))
  expect(await diagnostics(DESK, 'tool/unresolved', 1)).toEqual([
    expect.stringMatching(/^\d+:12 Tool "acme.refund" is not in this project. Did you mean acme.refunds\?$/),
  ])
  await changeText(DESK, text)
  expect(await diagnostics(DESK, 'tool/unresolved', 0)).toEqual([])
})

test('an open text is answered for in each of its versions, also where there is nothing to say', async () => {
  const until = (version: number) =>
    new Promise<void>((done) => {
      const look = (): void => {
        if (versions.get(uri(DESK)) === version) done()
      }
      waiting.push(look)
      look()
    })
  await openText(DESK, original(DESK))
  await until(1)
  expect(diagnosticsByUri.get(uri(DESK))).toEqual([])
  await changeText(DESK, `${original(DESK)}# more\n`)
  await until(2)
  expect(diagnosticsByUri.get(uri(DESK))).toEqual([])
})

test('a fault in one file is diagnosticsByUri of the file that it breaks, open or not', async () => {
  await openText('tools/refunds.yaml', original('tools/refunds.yaml').replace('name: refunds', 'name: refund'))
  expect(await diagnostics(DESK, 'tool/unresolved', 1)).toEqual([
    expect.stringMatching(/^\d+:12 Tool "acme.refunds" is not in this project. Did you mean acme.refund\?$/),
  ])
})

test('a text that has not been saved is checked as a document of the project', async () => {
  const unsaved = 'untitled:Untitled-1'
  const text = original('tools/refunds.yaml')
    .replace('name: refunds', 'name: payouts')
    .replace('kind: Tool', 'kind: tool')
  await client.sendNotification('textDocument/didOpen', {
    textDocument: { uri: unsaved, languageId: 'yaml', version: 1, text },
  })
  expect(await diagnostics(unsaved, 'doc/kind-unknown', 1)).toEqual([
    '2:7 kind must be Agent, Tool, Policy or Bundle, but is "tool". Did you mean "Tool"?',
  ])
  expect(diagnosticsByUri.get(unsaved)!.map(({ code }) => code)).not.toContain('id/file-name')
  const position = { line: 1, character: 7 }
  const actions = await client.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: unsaved },
    range: { start: position, end: position },
    context: { diagnostics: [] },
  })
  expect(actions.map(({ edit }) => Object.keys(edit!.changes!))).toEqual([[unsaved]])
  await client.sendNotification('textDocument/didClose', { textDocument: { uri: unsaved } })
  expect(await diagnostics(unsaved, 'doc/kind-unknown', 0)).toEqual([])
})

test('the past version of a file beside which it is compared is no document of the project', async () => {
  const textDocument = {
    uri: `git:${new URL(uri(DESK)).pathname}?HEAD`,
    languageId: 'yaml',
    version: 1,
    text: 'kind: agent\n',
  }
  await client.sendNotification('textDocument/didOpen', { textDocument })
  const asking = { textDocument: { uri: textDocument.uri }, position: { line: 0, character: 1 } }
  expect(await client.sendRequest('textDocument/hover', asking)).toBeNull()
  expect(await client.sendRequest('textDocument/completion', asking)).toEqual([])
  expect([...diagnosticsByUri].filter(([at]) => at.startsWith('git:'))).toEqual([])
})

test('half a line is a finding, not the end', async () => {
  await openText(DESK, `${original(DESK)}  mod\n`)
  expect(await diagnostics(DESK, 'doc/syntax', 1)).toHaveLength(1)
})

test('a safe fix is offered where the finding stands', async () => {
  const text = original(DESK).replace('kind: Agent', 'kind: agent')
  await openText(DESK, text)
  const actions = await client.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: uri(DESK) },
    range: { start: { line: 1, character: 7 }, end: { line: 1, character: 7 } },
    context: { diagnostics: [] },
  })
  expect(actions).toMatchObject([
    {
      title: 'Write Agent',
      kind: 'quickfix',
      diagnostics: [{ code: 'doc/kind-unknown' }],
      edit: {
        changes: {
          [uri(DESK)]: [
            { range: { start: { line: 1, character: 6 }, end: { line: 1, character: 11 } }, newText: 'Agent' },
          ],
        },
      },
    },
  ])
})

test('what is typed arrives as the places that changed', async () => {
  const text = original(DESK)
  await openText(DESK, text)
  const { position } = splitAtMark(text.replace('acme.refunds@', 'acme.refund|s@'))
  const end = { line: position.line, character: position.character + 1 }
  const change = async (version: number, ...contentChanges: object[]): Promise<void> =>
    await client.sendNotification('textDocument/didChange', {
      textDocument: { uri: uri(DESK), version },
      contentChanges,
    })
  await change(2, { range: { start: position, end }, text: '' })
  expect(await diagnostics(DESK, 'tool/unresolved', 1)).toEqual([
    expect.stringMatching(/^\d+:12 Tool "acme.refund" is not in this project. Did you mean acme.refunds\?$/),
  ])
  // Each change is counted in the text that the one before it has left.
  await change(
    3,
    { range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } }, text: '# a\r\n# b\n' },
    {
      range: {
        start: { line: position.line + 2, character: position.character },
        end: { line: position.line + 2, character: position.character },
      },
      text: 's',
    },
  )
  expect(await diagnostics(DESK, 'tool/unresolved', 0)).toEqual([])
})

test('all safe fixes of the open file are one action, for those who ask for it', async () => {
  const broken = original(DESK)
    .replace('kind: Agent', 'kind: agent')
    .replace('  limits:', '  limit:')
    .replace('max_subagent_depth: ', 'max_subagent_depht: ')
  await openText(DESK, broken)
  const asking = (...only: string[]): Promise<CodeAction[]> =>
    client.sendRequest('textDocument/codeAction', {
      textDocument: { uri: uri(DESK) },
      range: { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } },
      context: { diagnostics: [], ...(only.length > 0 && { only }) },
    })
  expect(await asking()).toEqual([])
  expect(await asking('refactor')).toEqual([])
  for (const kind of ['source', 'source.fixAll', 'source.fixAll.svc']) {
    const [action, ...others] = await asking(kind)
    expect(others).toEqual([])
    expect(action).toMatchObject({ title: 'Fix all that svc can fix', kind: 'source.fixAll.svc' })
    const edits = action!.edit!.changes!
    expect(Object.keys(edits)).toEqual([uri(DESK)])
    expect(applyEdit(broken, edits[uri(DESK)]![0]!)).toBe(original(DESK))
  }
  await changeText(DESK, original(DESK))
  expect(await asking('source.fixAll')).toEqual([])
})

test('each folder of the editor is a project of its own', async () => {
  const other = copyExample('refund')
  try {
    const folder = { uri: pathToFileURL(other.directory).href, name: 'other' }
    const there = pathToFileURL(join(other.directory, DESK)).href
    const broken = original(DESK).replace('acme.refunds@^1.0', 'acme.refund@^1.0')
    await client.sendNotification('textDocument/didOpen', {
      textDocument: { uri: there, languageId: 'yaml', version: 1, text: broken },
    })
    const move = async (event: object): Promise<void> =>
      await client.sendNotification('workspace/didChangeWorkspaceFolders', {
        event: { added: [], removed: [], ...event },
      })
    await move({ added: [folder] })
    expect(await diagnostics(there, 'tool/unresolved', 1)).toEqual([
      expect.stringMatching(/Tool "acme.refund" is not in this project. Did you mean acme.refunds\?$/),
    ])
    const [tool] = await client.sendRequest<Location[]>('textDocument/definition', {
      textDocument: { uri: there },
      position: splitAtMark(broken.replace('prompts/refund', 'prompts/|refund')).position,
    })
    expect(tool?.uri).toBe(pathToFileURL(join(other.directory, 'prompts/refund-desk.md')).href)
    // The same names in the first folder are other documents.
    await openText(DESK, original(DESK).replace('max_loop_iterations', 'max_loop_iteration'))
    expect(await diagnostics(DESK, 'doc/unknown-key', 1)).toHaveLength(1)
    expect(await diagnostics(DESK, 'tool/unresolved', 0)).toEqual([])
    expect(diagnosticsByUri.get(there)!.map(({ code }) => code)).not.toContain('doc/unknown-key')
    await move({ removed: [folder] })
    expect(await diagnostics(there, 'tool/unresolved', 0)).toEqual([])
    // What was typed while nobody checked it counts when its folder comes back.
    await client.sendNotification('textDocument/didChange', {
      textDocument: { uri: there, version: 2 },
      contentChanges: [{ text: broken.replace('max_loop_iterations', 'max_loop_iteration') }],
    })
    await move({ added: [folder] })
    expect(await diagnostics(there, 'doc/unknown-key', 1)).toHaveLength(1)
  } finally {
    other.remove()
  }
})

test('a fix that a person must judge is offered, not preferred, and makes the file that it needs', async () => {
  const label = (name: string, label: string): string =>
    `---\napiVersion: svc/v1\nkind: Tool\nmetadata: { name: ${name}, namespace: post, version: 1.0.0, labels: { ${label} } }\nspec: { description: Works., side_effect_class: read_only }\n`
  const text = `apiVersion: svc/v1
kind: Agent
metadata: { name: postman, namespace: post, version: 1.0.0 }
spec:
  purpose: Answers letters.
  instructions: { text: Answer. }
  model: { provider: scripted, name: s }
  tools: [{ ref: post.read@^1 }, { ref: post.fetch@^1 }, { ref: post.send@^1 }]
${label('read', 'svc/data: private')}${label('fetch', 'svc/content: untrusted')}${label('send', 'svc/egress: external')}`
  await openText('post/agent.yaml', text)
  const actions = await client.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: uri('post/agent.yaml') },
    range: { start: { line: 7, character: 66 }, end: { line: 7, character: 66 } },
    context: { diagnostics: [] },
  })
  const gate = actions.filter(({ diagnostics }) => diagnostics?.[0]?.code === 'security/lethal-trifecta')
  expect(gate).toMatchObject([
    {
      title: 'Write policies/tainted-send.yaml, which requires an approval after untrusted content was read',
      isPreferred: false,
      edit: {
        documentChanges: [
          { kind: 'create', uri: uri('policies/tainted-send.yaml') },
          { textDocument: { uri: uri('policies/tainted-send.yaml'), version: null } },
          { textDocument: { uri: uri('post/agent.yaml'), version: null } },
        ],
      },
    },
  ])
})

test('hover tells the field, and the rule that is broken there', async () => {
  const text = original(DESK)
  const field = await requestAtMark<Hover>('hover', DESK, text.replace('max_subagent_depth', 'max_sub|agent_depth'))
  expect(field.contents).toEqual({
    kind: 'markdown',
    value: expect.stringMatching(/^\*\*spec\.limits\.max_subagent_depth\*\* integer, default `5`\n\n\S[^\n]*\.$/),
  })
  await changeText(DESK, text.replace('acme.refunds@^1.0', 'acme.refund@^1.0'))
  const rule = await client.sendRequest<Hover>('textDocument/hover', {
    textDocument: { uri: uri(DESK) },
    position: splitAtMark(text.replace('acme.refunds@^1.0', 'acme.|refund@^1.0')).position,
  })
  expect(rule.contents).toMatchObject({
    value: expect.stringMatching(
      /^\*\*tool\/unresolved\*\* error\n\n[^]*\*\*spec\.tools\[\]\.ref\*\* string, required/,
    ),
  })
})

test.each([
  ['a tool', '    - ref: acme.|refunds@^1.0', 'tools/refunds.yaml'],
  ['a sub-agent', '    - ref: agents/fraud-|check.yaml', 'agents/fraud-check.yaml'],
  ['a policy', '        - acme.refund-|limit', 'policies/refund-limit.yaml'],
  ['a file', '    ref: prompts/|refund-desk.md', 'prompts/refund-desk.md'],
])('from a reference one goes to %s', async (_, line, path) => {
  const [found] = await requestAtMark<Location[]>(
    'definition',
    DESK,
    original(DESK).replace(line.replace('|', ''), line),
  )
  expect(found?.uri).toBe(uri(path))
})

test.each<readonly [string, string, string, readonly string[]]>([
  ['keys that the mapping does not have yet', '  limits:', '  l|\n  limits:', ['mcp_servers', 'default_policies']],
  [
    'keys of an item of a list',
    '    - ref: acme.refunds@^1.0',
    '    - ref: acme.refunds@^1.0\n      |',
    ['as', 'description', 'input_schema', 'side_effect_class', 'mcp'],
  ],
  ['enum values', '  format: json', '  format: |', ['text', 'json']],
  [
    'tools',
    '    - ref: acme.refunds@^1.0',
    '    - ref: acme|',
    [
      'acme.orders.lookup@^1.0.0',
      'acme.refunds@^1.0.0',
      'svc.ask_user',
      'svc.request_input',
      'svc.read_file',
      'svc.wait_until',
      'svc.wait_event',
    ],
  ],
  ['policies', '        - acme.refund-limit', '        - |', ['ref', 'acme.large-refunds', 'acme.refund-limit']],
  ['sub-agents', '    - ref: agents/fraud-check.yaml', '    - ref: |', ['agents/fraud-check.yaml']],
  [
    'prompts',
    '    ref: prompts/refund-desk.md',
    '    ref: |',
    ['README.md', 'prompts/fraud-check.md', 'prompts/refund-desk.md'],
  ],
  ['secrets', '    provider: scripted', '    provider: openai\n    secret: |', ['billing-key', 'search']],
  ['kinds', 'kind: Agent', 'kind: |', ['Agent', 'Tool', 'Policy', 'Bundle']],
])('completes %s', async (_, line, replaced, wanted) => {
  const text = original(DESK).replace(
    'output:',
    'secrets:\n  billing-key: { fromEnv: BILLING }\n  search:\n    fromEnv: SEARCH\noutput:',
  )
  expect(labelsOf(await requestAtMark<CompletionItem[]>('completion', DESK, text.replace(line, replaced)))).toEqual(
    wanted,
  )
})

test('a choice replaces the word that is written, and a key brings its colon', async () => {
  const items = await requestAtMark<CompletionItem[]>(
    'completion',
    DESK,
    original(DESK).replace('  limits:', '  def|\n  limits:'),
  )
  const item = items.find(({ label }) => label === 'default_policies')!
  const { range, newText } = item.textEdit as TextEdit
  expect(newText).toBe('default_policies:')
  expect([range.start.character, range.end.character]).toEqual([2, 5])
})

test('in JSON keys and texts are completed with their quotes', async () => {
  const tool = (spec: string): string =>
    `{"apiVersion": "svc/v1", "kind": "Tool", "metadata": {"name": "n", "namespace": "acme", "version": "1.0.0"},\n"spec": {${spec}}}`
  const [key] = await requestAtMark<CompletionItem[]>('completion', 'tools/new.json', tool('"d|"'))
  expect(key).toMatchObject({
    label: 'description',
    filterText: '"description',
    textEdit: {
      range: { start: { line: 1, character: 9 }, end: { line: 1, character: 12 } },
      newText: '"description": ',
    },
  })
  const values = await requestAtMark<CompletionItem[]>('completion', 'tools/other.json', tool('"side_effect_class": |'))
  expect(values.map(({ textEdit }) => textEdit!.newText)).toEqual([
    '"read_only"',
    '"idempotent_write"',
    '"non_idempotent_write"',
    '"irreversible_action"',
  ])
})

test('formatting writes the canonical form', async () => {
  await openText(DESK, original(DESK).replace('kind: Agent\n', '').concat('kind: Agent # last\n'))
  const [edit] = await client.sendRequest<TextEdit[]>('textDocument/formatting', {
    textDocument: { uri: uri(DESK) },
    options: { tabSize: 2, insertSpaces: true },
  })
  expect(edit).toMatchObject({ range: { start: { line: 1, character: 0 } } })
  expect(applyEdit(original(DESK).replace('kind: Agent\n', '').concat('kind: Agent # last\n'), edit!)).toBe(
    original(DESK).replace('kind: Agent\n', 'kind: Agent # last\n'),
  )
})

test('what is written in the project file counts at once', async () => {
  const text = original(DESK)
    .replace('  limits:\n', '  limits:\n    # none\n')
    .replace(/\n    max_loop_iterations: \d+/, '')
  await openText(DESK, text)
  expect(await diagnostics(DESK, 'limits/missing-loop', 1)).toHaveLength(1)
  writeFileSync(
    join(project.directory, 'svc.config.yaml'),
    `${original('svc.config.yaml')}lint:\n  rules:\n    limits/missing-loop: "off"\n`,
  )
  await client.sendNotification('workspace/didChangeWatchedFiles', { changes: [] })
  expect(await diagnostics(DESK, 'limits/missing-loop', 0)).toEqual([])
})

/** Places as `path:line:column`. */
const placesOf = (found: readonly Location[]): string[] =>
  found.map(
    ({ uri: at, range: { start } }) => `${at.slice(uri('').length + 1)}:${start.line + 1}:${start.character + 1}`,
  )

test('from an authority boundary one goes to its policies, and back', async () => {
  const text = original(DESK).replace('- refunds-above-limit', '- refunds-|above-limit')
  expect(placesOf(await requestAtMark<Location[]>('definition', DESK, text))).toEqual([
    'policies/large-refunds.yaml:16:20',
    'policies/refund-limit.yaml:16:20',
  ])
  const policy = 'policies/refund-limit.yaml'
  const link = original(policy).replace('authority_ref: ', 'authority_ref: |')
  expect(placesOf(await requestAtMark<Location[]>('definition', policy, link))).toEqual([
    'agents/refund-desk.yaml:11:9',
  ])
})

const REFUND_PLACES = [
  'agents/refund-desk.yaml:30:12',
  'policies/large-refunds.yaml:9:15',
  'policies/refund-limit.yaml:9:15',
]

test('finds the references to a document in documents, scenarios, policy tests and the project file', async () => {
  const tool = 'tools/refunds.yaml'
  const { text, position } = splitAtMark(original(tool).replace('name: refunds', 'name: ref|unds'))
  await openText(tool, text)
  const references = async (includeDeclaration: boolean): Promise<string[]> =>
    placesOf(
      await client.sendRequest<Location[]>('textDocument/references', {
        textDocument: { uri: uri(tool) },
        position,
        context: { includeDeclaration },
      }),
    )
  const found = await references(false)
  expect(found.filter((each) => !/scenario|policytest/.test(each))).toEqual([...REFUND_PLACES, 'svc.config.yaml:6:3'])
  expect(found.filter((each) => each.startsWith('scenarios/approve'))).toEqual([
    'scenarios/approve.scenario.yaml:6:3',
    'scenarios/approve.scenario.yaml:9:11',
    'scenarios/approve.scenario.yaml:15:19',
    'scenarios/approve.scenario.yaml:16:23',
  ])
  expect(found.filter((each) => each.includes('policytest'))).toHaveLength(7)
  expect(await references(true)).toEqual(expect.arrayContaining(['tools/refunds.yaml:4:9', ...found]))
})

test('renames a document wherever it is named, and leaves nothing unresolved', async () => {
  const reference = original(DESK).replace('acme.refunds@', 'acme.ref|unds@')
  expect(await requestAtMark('prepareRename', DESK, reference)).toEqual({
    range: { start: { line: 29, character: 11 }, end: { line: 29, character: 23 } },
    placeholder: 'acme.refunds',
  })
  const { position } = splitAtMark(reference)
  const renamed = async (newName: string): Promise<WorkspaceEdit> =>
    await client.sendRequest<WorkspaceEdit>('textDocument/rename', {
      textDocument: { uri: uri(DESK) },
      position,
      newName,
    })
  const { changes } = await renamed('acme.pay.refunds')
  const tool = changes![uri('tools/refunds.yaml')]!
  expect(tool.map(({ newText }) => newText)).toEqual(['refunds', 'acme.pay'])
  expect(changes![uri('svc.config.yaml')]!.map(({ newText }) => newText)).toEqual(['acme.pay.refunds'])
  for (const [at, edits] of Object.entries(changes!)) {
    const path = at.slice(uri('').length + 1)
    const lines = original(path).split('\n')
    for (const { range, newText } of edits.toReversed()) {
      const line = lines[range.start.line]!
      lines[range.start.line] = line.slice(0, range.start.character) + newText + line.slice(range.end.character)
    }
    writeFileSync(join(project.directory, path), lines.join('\n'))
    if (path === DESK) await changeText(DESK, lines.join('\n'))
  }
  for (const args of [['lint'], ['policy', 'test'], ['test']]) {
    expect(await svc(args, { cwd: project.directory })).toMatchObject({ code: 0 })
  }
})

test('refuses a name that is taken, and one that is none', async () => {
  const { text, position } = splitAtMark(original(DESK).replace('acme.refunds@', 'acme.ref|unds@'))
  await openText(DESK, text)
  const renamed = (newName: string): Promise<unknown> =>
    client.sendRequest('textDocument/rename', { textDocument: { uri: uri(DESK) }, position, newName })
  await expect(renamed('acme.orders.lookup')).rejects.toThrow(
    'tools/orders-lookup.yaml already holds the Tool acme.orders.lookup.',
  )
  await expect(renamed('two words')).rejects.toThrow(
    '"two words" cannot be a name: write letters, digits, "-" and "_", beginning with a letter.',
  )
})

test('lists the documents of a file with their members, and those of the project by their ids', async () => {
  await openText(DESK, original(DESK))
  const [agent, ...others] = await client.sendRequest<DocumentSymbol[]>('textDocument/documentSymbol', {
    textDocument: { uri: uri(DESK) },
  })
  expect(others).toEqual([])
  expect(agent).toMatchObject({ name: 'acme.refund-desk', detail: 'Agent 1.0.0', kind: 5 })
  expect(agent!.children!.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
    'lookup: acme.orders.lookup@^1.0',
    'refunds: acme.refunds@^1.0',
    'fraud-check: agents/fraud-check.yaml',
    'refunds-above-limit: authority boundary',
  ])
  const found = await client.sendRequest<WorkspaceSymbol[]>('workspace/symbol', { query: 'refund' })
  expect(found.map(({ name, containerName }) => `${name} ${containerName}`)).toEqual([
    'acme.refund-desk agents/refund-desk.yaml',
    'acme.refund bundle.yaml',
    'acme.large-refunds policies/large-refunds.yaml',
    'acme.refund-limit policies/refund-limit.yaml',
    'acme.refunds tools/refunds.yaml',
  ])
})

test.each([
  ['a field', '    field: args.amount\n    op: gt\n    value: 100', '    field: args.am|', ['args.am', 'args.amount']],
  [
    'a condition on one line',
    '    field: args.amount\n    op: gt\n    value: 100',
    '    when: args.amount > 100 and args.c|ur != "EUR"',
    ['args.cur', 'args.currency'],
  ],
  [
    'a condition on several lines',
    '    field: args.amount\n    op: gt\n    value: 100',
    '    when: >-\n      args.amount > 100\n\n      and args.c|ur != "EUR"',
    ['args.cur', 'args.currency'],
  ],
  [
    'a condition that goes on without a mark',
    '    field: args.amount\n    op: gt\n    value: 100',
    '    when: args.amount > 100\n      and args.c|ur != "EUR"',
    ['args.cur', 'args.currency'],
  ],
])('completes the arguments of the tool in %s', async (_, condition, written, [word, wanted]) => {
  const policy = 'policies/refund-limit.yaml'
  const text = original(policy).replace(condition!, written!)
  const items = await requestAtMark<CompletionItem[]>('completion', policy, text)
  expect(labelsOf(items)).toEqual(['args.order', 'args.amount', 'args.currency'])
  const { textEdit, detail } = items.find(({ label }) => label === wanted)!
  const { range, newText } = textEdit as TextEdit
  const line = text.replace('|', '').split('\n')[range.start.line]!
  expect(line.slice(range.start.character, range.end.character)).toBe(word)
  expect([newText, detail]).toEqual([wanted, wanted === 'args.amount' ? 'number' : undefined])
})

test.each([
  ['source.', ['source.order', 'source.amount', 'source.currency']],
  [
    'effect.',
    [
      'effect.key',
      'effect.repeated',
      'effect.previous.tool',
      'effect.previous.run_id',
      'effect.previous.agent',
      'effect.previous.version',
      'effect.previous.at',
      'effect.previous.age_seconds',
      'effect.previous.outcome',
      'effect.previous.same_args',
      'effect.previous.approved_by',
    ],
  ],
])('completes the facts below %s', async (root, wanted) => {
  const policy = 'policies/refund-limit.yaml'
  const text = original(policy).replace('    field: args.amount', `    field: ${root}|`)
  expect(labelsOf(await requestAtMark<CompletionItem[]>('completion', policy, text))).toEqual(wanted)
})

test('completes facts of every root before one is written', async () => {
  const policy = 'policies/refund-limit.yaml'
  const text = original(policy).replace('    field: args.amount', '    field: |')
  expect(labelsOf(await requestAtMark<CompletionItem[]>('completion', policy, text))).toEqual(
    expect.arrayContaining([
      'args.amount',
      'source.order',
      'run.taint',
      'history.workspace.this_tool.total(args.amount)',
    ]),
  )
})

test('completes the labels of a Tool document that svc reads, with their values', async () => {
  const refunds = 'tools/refunds.yaml'
  const key = await requestAtMark<CompletionItem[]>(
    'completion',
    refunds,
    original(refunds).replace('    svc/effect-key: refund:{args.order}', '    svc/eff|'),
  )
  expect(labelsOf(key)).toEqual(
    expect.arrayContaining(['svc/effect-key', 'svc/effect-window', 'svc/effect-repeat', 'svc/content']),
  )
  const value = await requestAtMark<CompletionItem[]>(
    'completion',
    refunds,
    original(refunds).replace('    svc/effect-key: refund:{args.order}', '    svc/effect-repeat: |'),
  )
  expect(labelsOf(value)).toEqual(['ask', 'refuse', 'return'])
})

test('offers the tool that was meant, or a Tool document, where a tool is not in the project', async () => {
  await openText(DESK, original(DESK).replace('acme.refunds@^1.0', 'acme.refund@^1.2'))
  const actions = await client.sendRequest<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: uri(DESK) },
    range: { start: { line: 29, character: 14 }, end: { line: 29, character: 14 } },
    context: { diagnostics: [] },
  })
  const offered = actions.filter(({ diagnostics }) => diagnostics?.[0]?.code === 'tool/unresolved')
  const tool = uri('tools/refund.yaml')
  expect(offered).toMatchObject([
    {
      title: 'Write acme.refunds@^1.2',
      isPreferred: false,
      edit: {
        changes: {
          [uri(DESK)]: [
            {
              range: { start: { line: 29, character: 11 }, end: { line: 29, character: 27 } },
              newText: '"acme.refunds@^1.2"',
            },
          ],
        },
      },
    },
    {
      title: 'Write tools/refund.yaml, a Tool document to fill in',
      isPreferred: false,
      edit: { documentChanges: [{ kind: 'create', uri: tool }, { textDocument: { uri: tool, version: null } }] },
    },
  ])
  const [, written] = offered[1]!.edit!.documentChanges as [unknown, { edits: TextEdit[] }]
  await openText('tools/refund.yaml', written.edits[0]!.newText)
  expect(await diagnostics(DESK, 'tool/unresolved', 0)).toEqual([])
  await diagnostics('tools/refund.yaml', 'tool/unresolved', 0)
  expect(diagnosticsByUri.get(tool)).toMatchObject([{ code: 'tool/undo-undeclared', severity: 3 }])
})

const lenses = async (path: string): Promise<readonly string[]> =>
  (await client.sendRequest<CodeLens[]>('textDocument/codeLens', { textDocument: { uri: uri(path) } })).map(
    ({ range, command }) => `${range.start.line + 1}: ${command!.title}`,
  )

test('above each call of an agent stands what is decided about it, as it is typed', async () => {
  const text = original(DESK)
  await openText(DESK, text)
  expect(await lenses(DESK)).toEqual([
    '29: allow (read_only)',
    '30: require_approval when refund:{args.order} again · require_approval when args.amount > 1000 · require_approval when args.amount > 100 · otherwise allow',
    '35: allow (delegation)',
  ])
  const policy = 'policies/refund-limit.yaml'
  await openText(policy, original(policy).replace('value: 100', 'value: 250'))
  expect((await lenses(DESK))[1]).toBe(
    '30: require_approval when refund:{args.order} again · require_approval when args.amount > 1000 · require_approval when args.amount > 250 · otherwise allow',
  )
  await changeText(DESK, text.replace('acme.refunds@^1.0', 'acme.refund@^1.0'))
  expect(await lenses(DESK)).toEqual([])
  expect(await lenses(policy)).toEqual([])
})

test('hover over a tool of an agent shows its decisions, with the policy behind each', async () => {
  const shown = await requestAtMark<Hover>('hover', DESK, original(DESK).replace('acme.refunds@', 'acme.ref|unds@'))
  expect((shown.contents as MarkupContent).value.split('\n').slice(0, 7)).toEqual([
    '| decision | when | by |',
    '| --- | --- | --- |',
    '| require_approval | refund:{args.order} again | effect key |',
    '| require_approval | args.amount > 1000 | acme.large-refunds@1.0.0 |',
    '| require_approval | args.amount > 100 | acme.refund-limit@1.0.0 |',
    '| allow | otherwise | default |',
    '',
  ])
})
