/** The server's log, newest last. */
import { safeJson, safeText } from '../../../base/text/escape-text.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import type { View } from '../../parts/view.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { TimeOfDay } from '../../parts/moments.tsx'
import { EmptyState, ErrorNote, Loading } from '../../parts/states.tsx'
import { address } from '../../wire/navigation.ts'
import { RequestError, sendText } from '../../wire/request.ts'
import { useResource } from '../../wire/resource.ts'
import { serverTime } from '../../wire/moment.ts'

const LEVELS = ['info', 'warn', 'error'].map((level) => [level, level] as const)
const TONES: Readonly<Record<string, Tone>> = { warn: 'waiting', error: 'bad', debug: 'quiet' }

/** The last lines are shown; `svc logs` has all. */
const SHOWN_LINES = 300
const SINCE_MS = 6 * 3_600_000

export function LogTab(): View {
  const level = address.value.query.get('level') ?? 'info'
  const log = useResource(`log ${level}`, () => readLog(level))
  const lines = log.value
  return (
    <>
      <div class="filters">
        <Tabs label="Least level" name="level" tabs={LEVELS} />
      </div>
      <ErrorNote error={log.error} />
      {lines === undefined && !log.error && <Loading />}
      {lines?.length === 0 && <EmptyState icon="runs" title="No line of this level in the last six hours." />}
      {lines !== undefined && lines.length > 0 && (
        <ol class="log" tabindex={0} aria-label="Log">
          {lines.map((line, at) => (
            <LogLine key={at} line={line} />
          ))}
        </ol>
      )}
    </>
  )
}

async function readLog(level: string): Promise<readonly JsonObject[]> {
  const since = new Date(serverTime() - SINCE_MS).toISOString()
  const text = await sendText(`/logs?${new URLSearchParams({ level, since })}`)
  return text
    .split('\n')
    .filter((line) => line !== '')
    .slice(-SHOWN_LINES)
    .map((line) => {
      const value: unknown = JSON.parse(line)
      if (!isJsonObject(value)) throw new RequestError(200, '', 'A line of the log is no object.')
      return value
    })
}

function LogLine({ line }: { readonly line: JsonObject }): View {
  const { time, level, msg, ...rest } = line
  const word = typeof level === 'string' ? level : ''
  const details = Object.entries(rest).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? safeText(value) : safeJson(value)}`,
  )
  return (
    <li class="log-line">
      <span class="dim">{typeof time === 'string' && <TimeOfDay at={time} />}</span>
      <Badge tone={TONES[word] ?? 'quiet'} text={safeText(word)} />
      <span>
        {safeText(typeof msg === 'string' ? msg : '')} <span class="dim">{details.join('  ')}</span>
      </span>
    </li>
  )
}
