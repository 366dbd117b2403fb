import { resolve } from 'node:path'
import type { Call } from '../command.ts'
import { tellUndeployed, type LateEdge } from '../late-edges.ts'
import { talkScreen } from '../list.ts'
import { createOperator } from '../operator.ts'
import { openProject, type Project } from '../project.ts'
import { prettyLog } from '../pretty-log.ts'
import { openServing, readAddress, readyLine, untilStopped } from '../serving.ts'
import { publishPath } from './publish.ts'

/** The server for shared use. Logs are JSON on stderr; stdout gets one line, when requests are taken. */
export async function serve(call: Call): Promise<number> {
  const { given, mode, out, io, cwd, signal } = call
  const bundles = given.rest(0).map((path) => resolve(cwd, path))
  const project = await openProject(call, bundles[0])
  const address = readAddress(call, project)
  const [storage, adminSocket] = [given.text('storage'), given.text('admin-socket')]
  const server = await openServing(
    {
      project: storage === undefined ? project : withStorage(project, storage),
      dataDirectory: project.dataDirectory,
      env: io.env,
      offline: given.flag('offline'),
      otel: given.flag('otel'),
      ...(given.text('log-format') === 'pretty' && { logTo: prettyLog(talkScreen(call)) }),
      ...(adminSocket !== undefined && { adminSocket: resolve(cwd, adminSocket) }),
    },
    address,
  )
  try {
    const operator = createOperator(
      (request) => server.operator.fetch(request),
      async () => undefined,
    )
    const edges: LateEdge[] = []
    for (const path of bundles) {
      const { late = [] } = await publishPath(call, { project, operator, path, deploy: true })
      edges.push(...late)
    }
    await tellUndeployed(call, operator, edges)
    if (mode.json) await out.ndjson(readyLine(server))
    else out.line(`ready ${server.url}`)
    await untilStopped(signal)
  } finally {
    await server.close()
  }
  return 0
}

/** The storage of the command line in place of the one that the project file names. */
const withStorage = (project: Project, url: string): Project => ({
  ...project,
  config: { ...project.config, storage: { ...project.config.storage, url } },
})
