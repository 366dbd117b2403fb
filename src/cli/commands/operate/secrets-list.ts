import { safeText } from '../../../base/text/escape-text.ts'
import type { SecretView } from '../../../operations/server.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { listCommand } from '../../project/request-command.ts'

const columns: readonly TableColumn<SecretView>[] = [
  { title: 'AGENT', cell: ({ agent }) => safeText(agent) },
  { title: 'SECRET', cell: ({ name }) => safeText(name) },
  { title: 'VARIABLE', cell: ({ env }) => safeText(env) },
  { title: 'STATE', cell: ({ state }) => state, style: (theme, { state }) => (state === 'set' ? theme.ok : theme.bad) },
  { title: 'USED BY', cell: ({ usedBy }) => safeText(usedBy.join(', ')) || 'nothing' },
]

/** The secrets in the server's environment, which may differ from that of this terminal. Never prints a value. */
export const secretsList = listCommand('GET /secrets', {
  columns: () => columns,
  nothing: 'No deployed agent names a secret, and the server uses none.',
})
