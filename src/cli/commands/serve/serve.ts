import { resolve } from 'node:path'
import { isFailure } from '../../../base/failure.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printUndeployed, type LateEdge } from '../../release/late-edges.ts'
import { messageScreen } from '../../shell/screen/list.ts'
import { createOperator } from '../../../client/operator.ts'
import { answersOperator } from '../../project/server/running-server.ts'
import { openProject, type Project } from '../../project/project.ts'
import { readStoreUrl } from '../../project/store-url.ts'
import { prettyLog } from '../../runs/pretty-log.ts'
import {
  openProjectServer,
  readAddress,
  readInternal,
  readyLine,
  untilStopped,
  withDoors,
} from '../../project/open-server.ts'
import type { readyAnswer } from '../../answers/serve.ts'
import type { ValueOf } from '../../../operations/schema.ts'

/** The server for shared use. Logs are JSON on stderr; stdout gets one line when the server is ready. */
export async function serve(call: CommandContext<ValueOf<typeof readyAnswer>>): Promise<number> {
  const { given, mode, out, io, cwd, signal } = call
  const bundles = given.rest(0).map((path) => resolve(cwd, path))
  const project = await openProject(call, bundles[0])
  const address = readAddress(call, project, given.flag('console'))
  const [storage, adminSocket] = [given.text('storage'), given.text('admin-socket')]
  const store = readStoreUrl(given.text('store')) ?? project.store
  const internal = readInternal(call, address.host)
  const server = await openWhenFree(call, project.dataDirectory, () =>
    openProjectServer(
      {
        project: withDoors(call, storage === undefined ? project : withStorage(project, storage)),
        dataDirectory: project.dataDirectory,
        ...(store !== undefined && { store }),
        env: io.env,
        offline: given.flag('offline'),
        otel: given.flag('otel'),
        ...(given.text('log-format') === 'pretty' && { logTo: prettyLog(messageScreen(call)) }),
        ...(adminSocket !== undefined && { adminSocket: resolve(cwd, adminSocket) }),
        ...(internal && { internal }),
      },
      address,
    ),
  )
  try {
    const operator = createOperator((request) => server.operator.fetch(request))
    const edges: LateEdge[] = []
    for (const path of bundles) {
      // Loaded for bundles alone: it brings lint and the compiler.
      const { publishPath } = await import('../ship/publish.ts')
      const { late = [] } = await publishPath(call, { project, operator, path, deploy: true })
      edges.push(...late)
    }
    await printUndeployed(call, operator, edges)
    if (mode.json) await out.ndjson(readyLine(server))
    else {
      out.line(`ready ${server.url}`)
      // Elsewhere stderr holds the JSON lines of the log alone.
      if (io.stderr.isTTY && server.consoleUrl !== null) out.message(`console ${server.consoleUrl}`)
    }
    await untilStopped(AbortSignal.any([signal, server.drain]))
  } finally {
    await server.end()
  }
  return 0
}

/** How long, and how often, to retry while a one-shot command holds the store. */
const PATIENCE_MS = 10_000
const TRY_AGAIN_MS = 100

/** @throws Failure `store_locked` at once where another server holds the directory, else after ten seconds */
async function openWhenFree<T>(
  { out, io, signal }: CommandContext,
  dataDirectory: string,
  open: () => Promise<T>,
): Promise<T> {
  const until = io.clock.monotonic() + PATIENCE_MS
  for (let isReported = false; ; isReported = true) {
    try {
      return await open()
    } catch (error) {
      if (!isFailure(error, 'store_locked') || io.clock.monotonic() > until || signal.aborted) throw error
      if (await answersOperator(dataDirectory)) throw error
      if (!isReported) out.message('another command holds the data directory; waiting up to 10 s for it')
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS))
    }
  }
}

/** Storage options of the command line replace those of the project file. */
const withStorage = (project: Project, url: string): Project => ({
  ...project,
  config: { ...project.config, storage: { ...project.config.storage, url } },
})
