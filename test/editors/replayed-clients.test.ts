/** The built `svc lsp`, asked as editors that cannot be installed here ask it: their capabilities, their order of messages. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CodeAction,
  type CodeLens,
  type DocumentSymbol,
  type SymbolInformation,
  type MessageConnection,
  type PublishDiagnosticsParams,
} from 'vscode-languageserver-protocol/node'
import { copyExample, writeProject, type Project } from '../e2e/binary.ts'
import { waitUntil } from '../wait-until.ts'
import { CLIENTS, type ClientFacts } from './client-facts.ts'

const BIN = resolve(import.meta.dirname, '../../bin/svc.js')
const PAGE = readFileSync(resolve(import.meta.dirname, '../../docs/editors.md'), 'utf8')
const DESK = 'agents/refund-desk.yaml'
const LIMIT = 'policies/refund-limit.yaml'
const OUTLINE = ['acme.refund-desk', 'lookup', 'refunds', 'fraud-check', 'refunds-above-limit']
const DEPLOYMENT = 'apiVersion: apps/v1\nkind: Deployment\nspec: {replicas:   3}\n'
const WORKFLOW = 'on:   push\njobs: {}\n'

interface Session {
  readonly client: MessageConnection
  readonly process: ChildProcess
  /** Requests of the server, in order. */
  readonly asked: string[]
  readonly findings: Map<string, PublishDiagnosticsParams>
}

let project: Project
let session: Session
afterEach(() => {
  session.client.dispose()
  session.process.kill()
  project.remove()
})

const uri = (path: string): string => pathToFileURL(join(project.directory, path)).href
const text = (path: string): string => readFileSync(join(project.directory, path), 'utf8')

/** Starts the server in a directory that has nothing to do with the project, as an editor of the desktop does. */
async function connect({ capabilities, initialize, command }: ClientFacts): Promise<void> {
  const [program, ...args] = command(PAGE)
  expect(program).toBe('svc')
  const child = spawn(process.execPath, [BIN, ...args], { cwd: '/' })
  const client = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin))
  session = { client, process: child, asked: [], findings: new Map() }
  client.onNotification('textDocument/publishDiagnostics', (found: PublishDiagnosticsParams) => {
    session.findings.set(found.uri, found)
  })
  client.onRequest((method: string) => {
    session.asked.push(method)
    return null
  })
  client.listen()
  const rootUri = pathToFileURL(project.directory).href
  await client.sendRequest('initialize', { processId: process.pid, rootUri, capabilities, ...initialize(rootUri) })
  await client.sendNotification('initialized', {})
  // Clients send settings of the server and a level of tracing, asked or not.
  await client.sendNotification('workspace/didChangeConfiguration', { settings: {} })
  await client.sendNotification('$/setTrace', { value: 'off' })
}

const open = (path: string, written: string, version: number): Promise<void> =>
  session.client.sendNotification('textDocument/didOpen', {
    textDocument: { uri: uri(path), languageId: 'yaml', version, text: written },
  })

const ask = <T>(method: string, path: string, more: object = {}): Promise<T> =>
  session.client.sendRequest<T>(`textDocument/${method}`, { textDocument: { uri: uri(path) }, ...more })

const findingsIn = async (path: string, count: number): Promise<PublishDiagnosticsParams> => {
  await waitUntil(() => session.findings.get(uri(path))?.diagnostics.length === count)
  return session.findings.get(uri(path))!
}

describe.each(CLIENTS)('$name', (facts) => {
  const { firstVersion, capabilities } = facts

  test('shows a finding of the version it has sent, and gets its fix in its own way of asking', async () => {
    project = copyExample('refund')
    await connect(facts)
    const broken = text(LIMIT).replace('  description:', '  descriptoin:')
    await open(LIMIT, broken, firstVersion)
    const { version, diagnostics } = await findingsIn(LIMIT, 1)
    expect([version, diagnostics[0]?.code]).toEqual([firstVersion, 'doc/unknown-key'])
    const { range } = diagnostics[0]!
    const fixes = await ask<CodeAction[]>('codeAction', LIMIT, { range, context: facts.asksForFixes(diagnostics) })
    // Whole as it comes: a client that could resolve it need not.
    expect(fixes).toMatchObject([
      { kind: 'quickfix', edit: { changes: { [uri(LIMIT)]: [{ newText: 'description' }] } } },
    ])
  })

  test('is asked only for what it says it can do', async () => {
    project = copyExample('refund')
    await connect(facts)
    await open(DESK, text(DESK), firstVersion)
    await ask('codeLens', DESK)
    await open(LIMIT, text(LIMIT).replace('value: 100', 'value: 250'), firstVersion)
    const { workspace } = capabilities
    const expected = [
      ...(workspace?.didChangeWatchedFiles?.dynamicRegistration === true ? ['client/registerCapability'] : []),
      // The lens of an agent follows from a policy beside it.
      ...(workspace?.codeLens?.refreshSupport === true ? ['workspace/codeLens/refresh'] : []),
    ]
    await findingsIn(LIMIT, 0)
    await waitUntil(() => session.asked.length >= expected.length)
    const lenses = await ask<CodeLens[]>('codeLens', DESK)
    expect(lenses.map(({ command }) => command?.title).join('\n')).toContain('when args.amount > 250')
    expect(session.asked).toEqual(expected)
  })

  test('gets the outline of an agent in a form that it takes', async () => {
    project = copyExample('refund')
    await connect(facts)
    await open(DESK, text(DESK), firstVersion)
    const symbols = await ask<(DocumentSymbol | SymbolInformation)[]>('documentSymbol', DESK)
    const isTree = capabilities.textDocument?.documentSymbol?.hierarchicalDocumentSymbolSupport === true
    expect(symbols.map((each) => 'location' in each)).toEqual(symbols.map(() => !isTree))
    const names = symbols.flatMap((each) => [
      each.name,
      ...('children' in each ? (each.children ?? []) : []).map(({ name }) => name),
    ])
    expect(names).toEqual(OUTLINE)
  })

  test('has YAML of other programs left alone', async () => {
    project = copyExample('refund')
    await connect(facts)
    for (const [path, written] of [
      ['deploy.yaml', DEPLOYMENT],
      ['ci.yml', WORKFLOW],
    ] as const) {
      await open(path, written, firstVersion)
      const options = { tabSize: 2, insertSpaces: true }
      expect(await ask('formatting', path, { options })).toEqual([])
      expect(await ask('completion', path, { position: { line: 1, character: 6 } })).toEqual([])
      expect((await findingsIn(path, 0)).diagnostics).toEqual([])
    }
    // Its own are formatted.
    await open(LIMIT, text(LIMIT).replace('spec:', 'spec:   '), firstVersion)
    expect(await ask('formatting', LIMIT, { options: {} })).toHaveLength(1)
  })

  test('ends it with 0', async () => {
    project = copyExample('refund')
    await connect(facts)
    const ended = once(session.process, 'exit')
    const answered = session.client.sendRequest('shutdown').catch(() => null)
    if (!facts.endsAtOnce) await answered
    await session.client.sendNotification('exit')
    expect((await ended)[0]).toBe(0)
  })
})

test('a folder without a project file is read once a text of it is ours', async () => {
  const limit = readFileSync(resolve(import.meta.dirname, '../../examples/refund', LIMIT), 'utf8')
  project = writeProject({ 'deploy.yaml': DEPLOYMENT, 'limit.yaml': limit.replace('description:', 'descriptoin:') })
  await connect(CLIENTS[0]!)
  await open('deploy.yaml', DEPLOYMENT, 0)
  await findingsIn('deploy.yaml', 0)
  expect([...session.findings.keys()]).toEqual([uri('deploy.yaml')])
  await open('new.yaml', 'apiVersion: svc/v1\n', 0)
  expect((await findingsIn('limit.yaml', 1)).diagnostics[0]?.code).toBe('doc/unknown-key')
})
