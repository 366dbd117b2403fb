/** A server with the console, the refund template deployed, and a few runs of it: for pictures and for tests in a browser. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { silentLog } from '../../src/base/log.ts'
import { writtenFilesOf } from '../../src/compile/package/sources.ts'
import { buildBundle } from '../../src/cli/release/build.ts'
import { createOperator, type OperatorClient } from '../../src/client/operator.ts'
import { lazyDocuments } from '../../src/cli/project/server/server-options.ts'
import type { Project } from '../../src/cli/project/project.ts'
import { openServer, type RunningServer } from '../../src/server/open.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { ProjectConfig } from '../../src/spec/project/config.ts'

export const REFUND_DESK = 'acme.refund-desk'

const TEMPLATE = resolve(import.meta.dirname, '../../templates/refund')

export interface RefundServer {
  /** The project, with its documents. */
  readonly directory: string
  readonly server: RunningServer
  readonly operator: OperatorClient
  /** Starts a run and resolves when it waits or has ended. */
  start(input: JsonObject): Promise<string>
  /** Publishes the template once more, as another version and with a text replaced in some files. */
  publish(version: string, edits: Readonly<Record<string, readonly [from: string, to: string]>>): Promise<void>
  /** The address that signs a browser in. */
  address(): Promise<string>
  /** The same server again, with the same data at the same addresses. */
  restart(): Promise<RunningServer>
  close(): Promise<void>
}

/** As real models, scripted ones take time that a screen can show: what takes no whole millisecond is shown without. */
function giveModelsTime(scripts: string): void {
  for (const name of readdirSync(scripts)) {
    const path = join(scripts, name)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/^- /gm, '- delay_ms: 2\n  '))
  }
}

/** @param prepare changes the files of the project before they are read */
export async function openRefundServer(prepare: (directory: string) => void = () => {}): Promise<RefundServer> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-console-'))
  cpSync(TEMPLATE, directory, { recursive: true })
  giveModelsTime(join(directory, 'models'))
  prepare(directory)
  const config = parse(readFileSync(join(directory, 'svc.config.yaml'), 'utf8')) as ProjectConfig
  const dataDirectory = join(directory, '.svc')
  const project: Project = {
    directory,
    config,
    workspace: config.workspace ?? 'default',
    dataDirectory,
    anchored: true,
    apiKey: async () => undefined,
    operatorKey: async () => undefined,
  }
  const open = (port: number, consolePort: number): Promise<RunningServer> =>
    openServer({
      dataDirectory,
      workspace: project.workspace,
      config,
      configDirectory: directory,
      env: { PATH: process.env['PATH'], SVC_OPERATOR: 'ana' },
      version: '0.1.0',
      documents: lazyDocuments,
      log: silentLog,
      port,
      console: { port: consolePort },
    })
  let server = await open(0, 0)
  const operator = createOperator((request) => server.operator.fetch(request))
  const publish = async (deploy: boolean): Promise<void> => {
    const { workspace, compiled, findings } = await buildBundle({ project, path: directory })
    if (!compiled?.bundle) throw new Error(JSON.stringify(findings))
    const sources = writtenFilesOf(workspace, compiled.bundle, compiled)
    await operator.call('POST /publish', { body: { bundle: compiled.bundle, deploy, sources } })
  }
  await publish(true)
  return {
    directory,
    get server() {
      return server
    },
    operator,
    async start(input) {
      const { runId, sessionId } = await operator.call('POST /runs', { body: { agent: REFUND_DESK, input } })
      await server.engine.waitForPause(
        { id: runId as never, sessionId: sessionId as never },
        new AbortController().signal,
      )
      return runId
    },
    async publish(version, edits) {
      const everyFile = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
        (name) => name.endsWith('.yaml') && !name.startsWith('.svc'),
      )
      for (const name of everyFile) {
        const [from, to] = edits[name] ?? ['', '']
        const path = join(directory, name)
        const text = readFileSync(path, 'utf8')
        if (!text.includes(from)) throw new Error(`${name} has no ${from}`)
        writeFileSync(path, text.replace(from, to).replaceAll(/(\bversion: |@)1\.0\.0\b/g, `$1${version}`))
      }
      await publish(false)
    },
    address: async () => (await operator.call('POST /console/codes', { body: undefined })).url,
    async restart() {
      const [port, consolePort] = [server.url, server.consoleUrl!].map((url) => Number(new URL(url).port))
      await server.close()
      return (server = await open(port!, consolePort!))
    },
    async close() {
      await server.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
