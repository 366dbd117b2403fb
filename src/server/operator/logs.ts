/** The log, filtered on the server, one line of JSON per entry. Source: docs/design/command-line.md#operating */
import { toJsonLine } from '../../base/json/json-line.ts'
import { type JsonObject, textOf } from '../../base/json/json.ts'
import { loadRe2 } from '../../base/pattern/re2.ts'
import { readLog } from '../log/read-log.ts'
import type { OperatorRoutes } from '../../operations/operations.ts'
import { grantsOfOperator } from '../auth/reader-grants.ts'
import { queryFailure } from '../http/refuse.ts'
import type { OperatorAction } from './people/act.ts'
import { parseSince } from './runs.ts'

const LEVELS = ['debug', 'info', 'warn', 'error']

export const streamLogs: OperatorAction<'GET /logs'> = async (request) => {
  const { services, query, endsAt } = request
  const { directory, serverState: about, readers, clock } = services
  const wanted = filterOf(query)
  let read = query.follow ?? false
  const removeReader = read ? readers.add(grantsOfOperator(request), () => (read = false)) : () => {}
  const goesOn = (): boolean => read && !about.closing && (endsAt === null || clock.now() < endsAt)
  const lines = directory === undefined ? none() : readLog(directory, goesOn)
  const encoder = new TextEncoder()
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        const { done, value } = await lines.next()
        if (done) {
          removeReader()
          return controller.close()
        }
        if (!wanted(value)) continue
        return controller.enqueue(encoder.encode(`${toJsonLine(value)}\n`))
      }
    },
    cancel() {
      read = false
      removeReader()
    },
  })
  return { status: 200, stream, headers: { 'content-type': 'application/x-ndjson' } }
}

async function* none(): AsyncGenerator<JsonObject> {}

function filterOf(query: OperatorRoutes['GET /logs']['query']): (line: JsonObject) => boolean {
  const { run, agent, status, path, level = 'info', since, http = false, grep } = query
  const least = LEVELS.indexOf(level)
  const from = since === undefined ? undefined : new Date(parseSince(since)).toISOString()
  const pattern = grep === undefined ? undefined : patternOf(grep)
  const statuses = status?.split(',').map((each) => each.toLowerCase())
  const glob =
    path && new RegExp(`^${path.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`).replaceAll(/\*+/g, '[^]*')}$`)
  return (line) => {
    const isRequest = line['msg'] === 'request'
    if (isRequest !== http) return false
    if (!isRequest && LEVELS.indexOf(textOf(line['level'])) < least) return false
    if (from !== undefined && textOf(line['time']) < from) return false
    if (run && line['runId'] !== run && !textOf(line['path']).includes(run)) return false
    if (agent && !textOf(line['agent']).startsWith(`${agent}@`)) return false
    if (statuses && !statuses.some((each) => matchesStatus(each, line['status']))) return false
    if (glob && !glob.test(textOf(line['path']))) return false
    return pattern === undefined || pattern.test(JSON.stringify(line))
  }
}

/** `404`, or `4xx` for all of them. */
const matchesStatus = (wanted: string, status: unknown): boolean =>
  wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted

function patternOf(text: string): { test(text: string): boolean } {
  try {
    const compiled = loadRe2().compile(text)
    return { test: (line) => compiled.matcher(line).find() }
  } catch (error) {
    throw queryFailure('/grep', `must be an RE2 pattern: ${(error as Error).message}`)
  }
}
