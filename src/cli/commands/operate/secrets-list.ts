import type { SecretView } from '../../../operations/server.ts'
import type { OperatorList } from '../../../operations/schema.ts'
import { safeText } from '../../../base/escape-text.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { withOperator } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList } from '../../shell/screen/list.ts'

/** The secrets in the server's environment, which may differ from that of this terminal. Never prints a value. */
export async function secretsList(call: CommandContext<OperatorList<SecretView>>): Promise<void> {
  await withOperator(await openProject(call), call, async (operator) => {
    await printList(
      call,
      await operator.call('GET /secrets', {}),
      columns,
      'No deployed agent names a secret, and the server uses none.',
    )
  })
}

const columns: readonly TableColumn<SecretView>[] = [
  { title: 'AGENT', cell: ({ agent }) => safeText(agent) },
  { title: 'SECRET', cell: ({ name }) => safeText(name) },
  { title: 'VARIABLE', cell: ({ env }) => safeText(env) },
  { title: 'STATE', cell: ({ state }) => state, style: (theme, { state }) => (state === 'set' ? theme.ok : theme.bad) },
  { title: 'USED BY', cell: ({ usedBy }) => safeText(usedBy.join(', ')) || 'nothing' },
]
