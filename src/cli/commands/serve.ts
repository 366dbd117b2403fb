import { resolve } from 'node:path'
import type { Call } from '../command.ts'
import { createOperator } from '../operator.ts'
import { openProject } from '../project.ts'
import { openServing, readAddress, readyLine, untilStopped } from '../serving.ts'
import { publishPath } from './publish.ts'

/** The server for shared use. Logs are JSON on stderr; stdout gets one line, when requests are taken. */
export async function serve(call: Call): Promise<number> {
  const { given, mode, out, io, cwd, signal } = call
  const bundles = given.rest(0).map((path) => resolve(cwd, path))
  const project = await openProject(call, bundles[0])
  const address = readAddress(call, project)
  const server = await openServing(
    { project, dataDirectory: project.dataDirectory, env: io.env, offline: given.flag('offline') },
    address,
  )
  try {
    const operator = createOperator(
      (request) => server.operator.fetch(request),
      async () => undefined,
    )
    for (const path of bundles) await publishPath(call, { project, operator, path, deploy: true })
    if (mode.json) await out.ndjson(readyLine(server))
    else out.line(`ready ${server.url}`)
    await untilStopped(signal)
  } finally {
    await server.close()
  }
  return 0
}
