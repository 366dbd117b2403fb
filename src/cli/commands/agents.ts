import type { AgentView } from '../../spec/operator.ts'
import type { Column } from '../../terminal/table.ts'
import type { Call } from '../command.ts'
import { printList } from '../list.ts'
import { withOperator } from '../operator.ts'
import { openProject } from '../project.ts'

export async function agentsList(call: Call): Promise<void> {
  await withOperator(await openProject(call), call, async (operator) => {
    await printList(
      call,
      await operator.call('GET /agents', { query: {} }),
      columns,
      'No agents. svc publish --deploy makes one.',
    )
  })
}

const columns: readonly Column<AgentView>[] = [
  { title: 'AGENT', cell: ({ name }) => name },
  { title: 'DEPLOYED', cell: ({ deployed }) => deployed?.versionLabel ?? '-' },
  { title: 'TRIGGERS', cell: ({ triggers }) => triggers.join(', ') || '-' },
  { title: 'TOOLS', cell: ({ tools }) => tools.join(', ') || '-' },
]
