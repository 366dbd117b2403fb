/** The client library as its users get it: packed, installed into an empty project, and used in each module system. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { build } from 'esbuild'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commandOf } from '../../scripts/tool.js'
import { chromiumPath } from '../chromium-path.ts'
import { removeDirectory } from '../remove-directory.ts'
import { SvcClient } from '../../clients/typescript/src/index.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const PACKAGE = join(ROOT, 'clients/typescript')
const home = mkdtempSync(join(tmpdir(), 'svc-client-'))
afterAll(() => removeDirectory(home))

const installed = join(home, 'node_modules/@svc-agents/client')
let files: readonly string[] = []

beforeAll(() => {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', home]
  const text = execFileSync('npm', args, { cwd: PACKAGE, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const [packed] = JSON.parse(text) as [{ filename: string; files: { path: string }[] }]
  files = packed.files.map(({ path }) => path)
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(home, packed.filename), '--strip-components=1', '-C', installed])
  link('eventsource-parser')
})

function link(name: string): void {
  const path = join(home, 'node_modules', name)
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules', name), path)
}

test('the package holds each module with its declarations and source map, its page, and nothing else', () => {
  const modules = readdirSync(join(PACKAGE, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => path.replaceAll('\\', '/').replace(/\.ts$/, ''))
  const built = modules.flatMap((name) => ['.js', '.js.map', '.d.ts'].map((ending) => `dist/${name}${ending}`))
  expect([...files].sort()).toEqual(['LICENSE', 'README.md', 'package.json', ...built].sort())
  const { name, version, dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    name: string
    version: string
    dependencies: object
  }
  expect([name, Object.keys(dependencies)]).toEqual(['@svc-agents/client', ['eventsource-parser']])
  const sent: string[] = []
  const client = new SvcClient({
    apiKey: 'svc_test',
    fetch: async (_, init) => {
      sent.push(new Headers(init?.headers).get('x-svc-client') ?? '')
      return new Response('{}')
    },
  })
  return client.getRun('r').then(() => expect(sent).toEqual([`ts/${version}`]))
})

test('what the package declares is what it holds', async () => {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, pack: false })
  expect(messages.map((each) => formatMessage(each, pkg!, { color: false }))).toEqual([])
})

const bundle = async (
  platform: 'browser' | 'neutral' | 'node',
  contents: string,
  format: 'esm' | 'cjs' | 'iife' = 'esm',
) => {
  const stdin = { contents, resolveDir: home, loader: 'ts' as const }
  const { outputFiles, metafile } = await build({
    stdin,
    platform,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format,
  })
  return { text: outputFiles[0]!.text, outside: Object.values(metafile.outputs).flatMap(({ imports }) => imports) }
}

test.each([
  ['browsers', 'browser', 'iife'],
  ['browsers, as module', 'browser', 'esm'],
  ['workers, edge runtimes, Deno and Bun', 'neutral', 'esm'],
  ['Node', 'node', 'esm'],
  ['CommonJS', 'neutral', 'cjs'],
] as const)('all of it, its parser included, is one bundle of under 20 kB for %s', async (_, platform, format) => {
  const { text: whole, outside } = await bundle(platform, "export * from '@svc-agents/client'", format)
  expect(outside).toEqual([])
  // Nothing of Node, by whatever way a runtime would load it.
  expect(whole).not.toMatch(/\bnode:|\brequire\(|\bimport\(|\bBuffer\b|\bprocess\b/)
  expect(whole.length).toBeLessThan(20_000)
})

test('what a program does not use is left out of its bundle', async () => {
  const { text: small } = await bundle(
    'neutral',
    "import { isTerminal } from '@svc-agents/client'; console.log(isTerminal('x'))",
  )
  expect(small.length).toBeLessThan(500)
})

const PROGRAM = `
const sent = []
const client = new SvcClient({ apiKey: 'svc_test', baseUrl: 'http://svc.test', fetch: async (url, init) => {
  sent.push(init.method + ' ' + url)
  if (!url.endsWith('/stream')) return new Response(JSON.stringify({ runId: 'r', status: 'Completed', output: 1 }))
  const frame = 'id: 1\\ndata: ' + JSON.stringify({ kind: 'session', subject: 'engine.session.completed', data: {} }) + '\\n\\n'
  return new Response(frame, { headers: { 'content-type': 'text/event-stream' } })
} })
const subjects = []
runToEnd(client, 'a', {}, { onEvent: (event) => subjects.push(event.subject) })
  .then(({ status }) => console.log(JSON.stringify({ status, sent: sent.sort(), subjects })))`

test.each([
  ['a module', 'program.mjs', "import { runToEnd, SvcClient } from '@svc-agents/client'"],
  ['a CommonJS program', 'program.cjs', "const { runToEnd, SvcClient } = require('@svc-agents/client')"],
])('%s runs with it', (_, name, first) => {
  writeFileSync(join(home, name), first + PROGRAM)
  const { stdout, stderr } = spawnSync(process.execPath, [join(home, name)], { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    status: 'Completed',
    sent: [
      'GET http://svc.test/v1/runs/r',
      'GET http://svc.test/v1/runs/r/stream',
      'POST http://svc.test/v1/agents/a/runs',
    ],
    subjects: ['engine.session.completed'],
  })
})

test('an error that nobody caught names the functions and lines of the library as they were written', () => {
  const program = `import { SvcClient } from '@svc-agents/client'
const client = new SvcClient({ apiKey: 'svc_test', baseUrl: 'http://svc.test', fetch: async () => new Response('{}', { status: 404 }) })
await client.getRun('r')`
  writeFileSync(join(home, 'failing.mjs'), program)
  const trace = (...flags: readonly string[]): string =>
    spawnSync(process.execPath, [...flags, join(home, 'failing.mjs')], { encoding: 'utf8' }).stderr
  expect(trace()).toMatch(/SvcError: [^]* at async \S*(?:call|send)\S* \([^)]*\/dist\/transport\.js:/)
  expect(trace('--enable-source-maps')).toMatch(/ at async [^\n]*\/src\/transport\.ts:\d+/)
})

/** Uses each part of the declarations that a platform's types are needed for, and the discriminators. */
const TYPED = `
export async function use(client: SvcClient): Promise<string> {
  const { runId } = await client.startRun('agent', { input: { order: 'A-1' }, tags: ['t'] }, { waitSeconds: 5 })
  const upload = await client.uploadWorkspaceFile(new Uint8Array(1), { filename: 'a.txt' })
  await client.sendRunMessage(runId, { text: '', files: [fileItem(upload)] }, { path: 'input' })
  for await (const event of client.streamRunEvents(runId)) {
    if (event.subject === 'engine.step.delta') return event.data.text
    if (event.subject === 'engine.run.paused') return event.data.pending?.[0]?.prompt ?? ''
    const step = stepOf(event)
    if (!step?.content) continue // of an erased session
    if (step.type === 'Reasoning') return step.content.text + step.content.usage.input_tokens
    if (step.type === 'UserTaskReq') return step.content.user_task_id
  }
  const { items } = await client.getConversation(runId)
  for (const item of items) {
    if (!item.content) continue
    switch (item.type) {
      case 'ToolCall':
        return item.content.idempotency_key
      case 'LimitReached':
        return String(item.content.value)
      default:
    }
  }
  return client.getRun(runId).catch((error: unknown) => (isNotFound(error) ? error.body : '')) as Promise<string>
}
// @ts-expect-error an agent id is needed
export const missing = (client: SvcClient) => client.startRun()
// @ts-expect-error a Reasoning has no result
export const wrong = (step: ReasoningContent) => step.result
`
const IMPORTED = 'fileItem, isNotFound, stepOf, type ReasoningContent, type SvcClient'

/** Where the platform's own types are known, they are those of the options. */
const PLATFORM = `
export const given = new Client({ apiKey: 'svc_', fetch })
export const timely = (client: Client) => client.getRun('r', { signal: AbortSignal.timeout(1) })
export const sent = (client: Client) => client.uploadWorkspaceFile(new Blob(['text']))
// @ts-expect-error a text is no signal
export const untimely = (client: Client) => client.getRun('r', { signal: 'soon' })
`

const MODES = {
  'Node, as ES module and CommonJS': { files: ['a.mts', 'b.cts'], module: 'nodenext' },
  'a bundler': { files: ['c.ts'], module: 'esnext', moduleResolution: 'bundler' },
} as const
const LIBRARIES = {
  'without any platform': { lib: ['es2023'], types: [] },
  'with the DOM': { lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] },
  'with Node': { lib: ['es2023'], types: ['node'] },
} as const

const cases = Object.entries(MODES).flatMap(([mode, settings]) =>
  Object.entries(LIBRARIES).map(([library, types]) => ({ mode, settings, library, types })),
)

test.each(cases)('the declarations serve $mode $library', ({ settings: { files, ...module }, types, library }) => {
  const directory = mkdtempSync(join(home, 'types-'))
  cpSync(join(ROOT, 'node_modules/@types'), join(directory, 'node_modules/@types'), { recursive: true })
  cpSync(join(ROOT, 'node_modules/undici-types'), join(directory, 'node_modules/undici-types'), { recursive: true })
  const platform =
    library === 'without any platform' ? '' : `import { SvcClient as Client } from '@svc-agents/client'${PLATFORM}`
  const text = `import { ${IMPORTED} } from '@svc-agents/client'\n${platform}\n${TYPED}`
  for (const file of files) writeFileSync(join(directory, file), text)
  const compilerOptions = {
    ...module,
    ...types,
    target: 'es2023',
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const [node, tsc] = commandOf('tsc')
  const { stdout } = spawnSync(node, [tsc, '-p', directory], { encoding: 'utf8' })
  expect(stdout).toBe('')
})

/** What the page runs: a whole run over real HTTP, and a webhook, with what a browser has. */
const IN_BROWSER = `
import { runToEnd, SvcClient, verifyWebhook } from '@svc-agents/client'
const refusal = (() => {
  try {
    return new SvcClient({ apiKey: 'svc_test' }) && 'none'
  } catch (error) {
    return error.message
  }
})()
const client = new SvcClient({ apiKey: 'svc_test', baseUrl: location.origin, dangerouslyAllowBrowser: true })
const subjects = []
const { status } = await runToEnd(client, 'a', {}, { onEvent: (event) => subjects.push(event.subject) })
const upload = await client.uploadWorkspaceFile(new File(['text'], 'a.txt', { type: 'text/plain' }))
const wrong = await verifyWebhook('whsec_AAAA', new Headers(), '{}').catch((error) => error.name)
await fetch('/told', { method: 'POST', body: JSON.stringify({ refusal, status, subjects, upload, wrong }) })
`

test.skipIf(chromiumPath === undefined)(
  'a bundle runs in a browser (needs Chromium: apt-get install chromium-headless-shell)',
  async () => {
    const { text: script } = await bundle('browser', IN_BROWSER)
    let tell: (body: string) => void = () => undefined
    const told = new Promise<string>((resolveTold) => (tell = resolveTold))
    const server = createServer((request, response) => {
      const { url = '' } = request
      void text(request).then((body) => (url === '/told' ? tell(body) : undefined))
      if (url === '/')
        return response.setHeader('content-type', 'text/html').end('<script type="module" src="/script.js"></script>')
      if (url === '/script.js') return response.setHeader('content-type', 'text/javascript').end(script)
      if (url.endsWith('/stream')) {
        const event = { kind: 'session', subject: 'engine.session.completed', data: {} }
        return response.setHeader('content-type', 'text/event-stream').end(`id: 1\ndata: ${JSON.stringify(event)}\n\n`)
      }
      const { host } = request.headers
      const run = { runId: 'r', status: 'Completed' }
      const address = { objectKey: 'w/files/1-a.txt', uploadUrl: `http://${host}/put`, httpMethod: 'PUT' }
      return response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ...run, ...address, requiredHeaders: {}, expiresInSeconds: 60 }))
    })
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    const flags = ['--headless', '--no-sandbox', '--disable-dev-shm-usage', `--user-data-dir=${join(home, 'browser')}`]
    // A group of its own, with all processes that it starts.
    const browser = spawn(chromiumPath!, [...flags, `http://127.0.0.1:${port}/`], { stdio: 'ignore', detached: true })
    const ended = once(browser, 'exit')
    try {
      expect(JSON.parse(await told)).toEqual({
        refusal: 'SvcClient is for backends: in a browser its key would be readable by whoever opens the page.',
        status: 'Completed',
        subjects: ['engine.session.completed'],
        upload: { objectKey: 'w/files/1-a.txt', filename: '1-a.txt', mediaType: 'text/plain' },
        wrong: 'SvcWebhookError',
      })
    } finally {
      process.kill(-browser.pid!, 'SIGKILL')
      await ended
      server.closeAllConnections()
      server.close()
    }
  },
  120_000,
)
