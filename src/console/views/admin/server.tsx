/** The server that answers, where it keeps what it knows, and the other processes of its store. */
import { safeText } from '../../../base/text/escape-text.ts'
import type { StorageView, WorkerView } from '../../../operations/server.ts'
import { Badge } from '../../parts/badge.tsx'
import { formatBytes } from '../../parts/bytes.ts'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'
import type { View } from '../../parts/view.ts'
import { Icon } from '../../parts/icon.tsx'
import { Age } from '../../parts/moments.tsx'
import { showUnread } from '../../parts/states.tsx'
import { Table } from '../../parts/table.tsx'
import { callOperator } from '../../wire/request.ts'
import { useOperator } from '../../wire/resource.ts'

/** Below this a disk fills up within days. */
const LITTLE_BYTES = 1024 ** 3

export function ServerTab(): View {
  const status = useOperator('GET /status')
  const workers = useOperator('GET /workers')
  const read = status.value
  if (!read) return showUnread(status, 3)
  const { storage } = read
  const facts: readonly Fact[] = [
    ['Version', safeText(read.version)],
    ['Workspace', safeText(read.workspace)],
    ['Process', String(read.pid)],
    ['API', safeText(read.url ?? 'none')],
    ['Uploads', safeText(read.uploadUrl ?? 'none')],
    ['Console', safeText(read.consoleUrl ?? 'none')],
    ['Started', <Age at={read.startedAt} />],
    ['Store', describeStore(storage)],
    ['Files', storage.files === 'bucket' ? 'in a bucket' : 'in the data directory'],
    ...(storage.freeBytes === null ? [] : [['Free on disk', formatBytes(storage.freeBytes)] as const]),
  ]
  return (
    <>
      {storage.freeBytes !== null && storage.freeBytes < LITTLE_BYTES && (
        <p class="note bad">
          <Icon name="warning" />
          <span>The disk of the data directory is almost full: {formatBytes(storage.freeBytes)} are free.</span>
        </p>
      )}
      <Facts facts={facts} />
      <h2 class="section">Server processes</h2>
      {workers.value ? <WorkerTable items={workers.value.items} /> : showUnread(workers, 2)}
    </>
  )
}

const describeStore = ({ store, storeBytes }: StorageView): string =>
  store === 'postgres' ? 'PostgreSQL' : `SQLite${storeBytes === null ? '' : `, ${formatBytes(storeBytes)}`}`

const STATES = {
  serving: ['ok', 'check', 'serving'],
  draining: ['warn', 'clock', 'draining'],
  silent: ['bad', 'warning', 'silent'],
} as const

const WorkerTable = ({ items }: { readonly items: readonly WorkerView[] }): View => (
  <Table label="Server processes" heads={['Process', 'State', ['Sessions', 'num'], 'Version', 'Seen', 'Started', '']}>
    {items.map(({ workerId, version, url, state, leases, seenAt, startedAt }) => {
      const [tone, icon, word] = STATES[state]
      return (
        <tr key={workerId}>
          <td>
            {safeText(workerId)}
            <span class="sub">{safeText(url ?? 'no address')}</span>
          </td>
          <td>
            <Badge tone={tone} icon={icon} text={word} />
          </td>
          <td class="num">{leases.toLocaleString('en')}</td>
          <td data-head="Version">{safeText(version)}</td>
          <td class="when" data-head="Seen">
            <Age at={seenAt} />
          </td>
          <td class="when" data-head="Started">
            <Age at={startedAt} />
          </td>
          <td class="actions">
            {
              // The only process would end, and nobody would start another one.
              items.length > 1 && state === 'serving' && (
                <ConfirmButton
                  label="Drain"
                  question="End it once its work is handed over"
                  act={() => callOperator('POST /workers/:id/drain', { id: workerId, body: undefined })}
                />
              )
            }
          </td>
        </tr>
      )
    })}
  </Table>
)
