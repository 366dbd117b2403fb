import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/json.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { Theme } from '../../../terminal/theme.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { timeOfDay } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { parseMoment } from '../../shell/numbers.ts'
import { OPERATOR_URL, type OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import { remoteError } from '../../../client/remote-error.ts'
import { toIsoText } from '../../../base/clock.ts'

/** The server's log, oldest line first. */
export async function logs(call: CommandContext<JsonObject>): Promise<void> {
  const { mode, out, signal } = call
  await withOperator(call, async (operator) => {
    const url = new URL('/logs', OPERATOR_URL)
    for (const [name, value] of Object.entries(await queryOf(call, operator))) url.searchParams.set(name, value)
    const response = await operator.send(new Request(url, { signal }))
    if (!response.ok || !response.body) throw remoteError(response.status, 'GET /logs', await response.text())
    const { theme } = answerScreen(call)
    for await (const line of linesOf(response.body)) {
      if (mode.json) await out.ndjson(line)
      else out.prose(line['msg'] === 'request' ? requestLine(line, theme) : logLine(line, theme))
    }
  })
}

async function queryOf(
  { given, io }: CommandContext,
  operator: OperatorClient,
): Promise<Readonly<Record<string, string>>> {
  const [run, agent, since] = [given.text('run'), given.text('agent'), given.text('since')]
  const [status, path] = [given.text('status-code'), given.text('path')]
  const [level, grep] = [given.text('level'), given.text('grep')]
  return {
    ...(run !== undefined && { run: await runIdOf(run, operator) }),
    ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).name }),
    ...(since !== undefined && { since: toIsoText(parseMoment(since, io.clock.now())) }),
    ...(level !== undefined && { level }),
    ...(grep !== undefined && { grep }),
    ...(status !== undefined && { status }),
    ...(path !== undefined && { path }),
    ...((given.flag('http') || status !== undefined || path !== undefined) && { http: 'true' }),
    ...(given.flag('follow') && { follow: 'true' }),
  }
}

async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<JsonObject> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const value = JSON.parse(line) as JsonValue
      if (isJsonObject(value)) yield value
    }
  }
}

/** `10:40:11  POST /v1/agents/…/runs  422  key svc_9fQ…  /input/amount: must be number  req 5f2e11`. */
function requestLine(line: JsonObject, theme: Theme): string {
  const status = Number(line['status'])
  const parts = [
    theme.dim(timeOf(line)),
    safeText(`${textOf(line['method'])} ${textOf(line['path'])}`),
    (status >= 400 ? theme.bad : theme.ok)(String(status)),
    ...(line['ms'] === undefined ? [] : [`${textOf(line['ms'])} ms`]),
    ...(line['key'] === undefined ? [] : [`key ${safeText(textOf(line['key']))}…`]),
    ...(line['error'] === undefined ? [] : [safeText(textOf(line['error']))]),
    theme.dim(`req ${shortId(textOf(line['requestId']))}`),
  ]
  return parts.join('  ')
}

const OWN = new Set(['time', 'level', 'msg'])

function logLine(line: JsonObject, theme: Theme): string {
  const level = textOf(line['level'])
  const values = Object.entries(line)
    .filter(([name]) => !OWN.has(name))
    .map(([name, value]) => `${theme.dim(`${safeText(name)}=`)}${safeText(shortId(textOf(value)))}`)
  const usual = level === 'warn' ? theme.warn : theme.dim
  const style = level === 'error' ? theme.bad : usual
  return [theme.dim(timeOf(line)), style(safeText(level.padEnd(5))), safeText(textOf(line['msg'])), ...values].join(
    '  ',
  )
}

const timeOf = (line: JsonObject): string => timeOfDay(Date.parse(textOf(line['time'])))
const textOf = (value: JsonValue | undefined): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null)
