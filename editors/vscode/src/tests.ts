/** Scenarios and policy tests in the test view: one item a file, and below it one a case once the file has run. */
import * as vscode from 'vscode'
import { ask } from './program.ts'

const FILES = '**/*.{scenario,policytest}.yaml'
const EXCLUDED = '**/{node_modules,.svc}/**'

interface Answer {
  readonly cases: readonly Case[]
}

interface Case {
  readonly name: string
  readonly file: string
  readonly ok: boolean
  /** Of a scenario. */
  readonly differences?: readonly string[]
  readonly undecided?: readonly string[]
  /** Of a policy test. */
  readonly failure?: readonly string[]
  readonly trace?: readonly unknown[]
  readonly ms?: number
}

export function showsTests(): vscode.Disposable {
  const tests = vscode.tests.createTestController('svc', 'svc')
  const add = (uri: vscode.Uri): vscode.TestItem => {
    const known = tests.items.get(uri.toString())
    if (known) return known
    const item = tests.createTestItem(uri.toString(), vscode.workspace.asRelativePath(uri), uri)
    tests.items.add(item)
    return item
  }
  const findAll = async (): Promise<void> => {
    const found = await vscode.workspace.findFiles(FILES, EXCLUDED)
    tests.items.replace(found.map(add))
  }
  const watcher = vscode.workspace.createFileSystemWatcher(FILES)
  tests.resolveHandler = async (item) => (item ? undefined : findAll())
  tests.refreshHandler = findAll
  tests.createRunProfile(
    'Run',
    vscode.TestRunProfileKind.Run,
    (request, token) => runTests(tests, request, token),
    true,
  )
  void findAll()
  return vscode.Disposable.from(
    tests,
    watcher,
    watcher.onDidCreate(add),
    watcher.onDidDelete((uri) => tests.items.delete(uri.toString())),
  )
}

async function runTests(
  tests: vscode.TestController,
  { include, exclude = [] }: vscode.TestRunRequest,
  token: vscode.CancellationToken,
): Promise<void> {
  const wanted = new Set<vscode.TestItem>()
  // A case runs with its file.
  if (include) for (const each of include) wanted.add(each.parent ?? each)
  else tests.items.forEach((each) => wanted.add(each))
  const run = tests.createTestRun(new vscode.TestRunRequest(include, exclude))
  const files = [...wanted].filter((each) => !exclude.includes(each))
  for (const item of files) run.enqueued(item)
  for (const folder of vscode.workspace.workspaceFolders ?? [])
    for (const command of [['test'], ['policy', 'test']]) {
      const own = files.filter(({ uri }) => uri && ownerOf(uri) === folder && commandOf(uri) === command.join(' '))
      if (own.length > 0 && !token.isCancellationRequested) await runFiles(tests, run, folder, command, own, token)
    }
  run.end()
}

const ownerOf = (uri: vscode.Uri): vscode.WorkspaceFolder | undefined => vscode.workspace.getWorkspaceFolder(uri)

const commandOf = ({ path }: vscode.Uri): string => (path.endsWith('.policytest.yaml') ? 'policy test' : 'test')

/** All files at once: a command reads and compiles the project each time. */
async function runFiles(
  tests: vscode.TestController,
  run: vscode.TestRun,
  folder: vscode.WorkspaceFolder,
  command: readonly string[],
  items: readonly vscode.TestItem[],
  token: vscode.CancellationToken,
): Promise<void> {
  for (const item of items) run.started(item)
  try {
    const { cases } = await ask<Answer>(folder, [...command, ...items.map(({ uri }) => uri!.fsPath)], token)
    for (const item of items)
      await tellFile(
        tests,
        run,
        item,
        cases.filter(({ file }) => item.uri!.path.endsWith(`/${file}`)),
      )
  } catch (error) {
    for (const item of items) run.errored(item, new vscode.TestMessage((error as Error).message))
  }
}

async function tellFile(
  tests: vscode.TestController,
  run: vscode.TestRun,
  item: vscode.TestItem,
  cases: readonly Case[],
): Promise<void> {
  const places = await placesOf(item.uri!, cases)
  const children = cases.map((each) => {
    const child = tests.createTestItem(`${item.id}#${each.name}`, each.name, item.uri)
    const place = places.get(each.name)
    if (place) child.range = place
    return [each, child] as const
  })
  item.children.replace(children.map(([, child]) => child))
  for (const [each, child] of children)
    if (each.ok) run.passed(child, each.ms)
    else run.failed(child, messageOf(each, child), each.ms)
  if (cases.length === 0) run.skipped(item)
  else if (cases.every(({ ok }) => ok)) run.passed(item)
  else run.failed(item, [])
}

function messageOf(
  { differences = [], undecided = [], failure = [], trace = [] }: Case,
  item: vscode.TestItem,
): vscode.TestMessage {
  const lines = [...differences, ...failure, ...undecided.map((each) => `undecided: ${each}`)]
  const seen = trace.filter((each) => typeof each === 'string')
  const message = new vscode.TestMessage([...lines, ...(seen.length > 0 ? ['', ...seen] : [])].join('\n'))
  if (item.uri && item.range) message.location = new vscode.Location(item.uri, item.range)
  return message
}

/** Where the names of the cases of a file stand. */
async function placesOf(uri: vscode.Uri, cases: readonly Case[]): Promise<ReadonlyMap<string, vscode.Range>> {
  const document = await vscode.workspace.openTextDocument(uri)
  const places = new Map<string, vscode.Range>()
  for (const { name } of cases) {
    const at = document.getText().indexOf(name)
    if (at >= 0) places.set(name, new vscode.Range(document.positionAt(at), document.positionAt(at + name.length)))
  }
  return places
}
