import { fail } from '../../base/failure.ts'
import { iterateSessions, type SessionItem } from '../../client/index.ts'
import type { Column } from '../../terminal/table.ts'
import { styleOfStatus } from '../../terminal/theme.ts'
import { relative, shortId } from '../../terminal/time.ts'
import type { Call } from '../command.ts'
import { printList } from '../list.ts'
import { wholeNumber } from '../numbers.ts'
import { openProject } from '../project.ts'
import { agentIdFrom, agentOf } from '../reference.ts'
import { openAgentTarget } from '../target.ts'

export async function sessionsList(call: Call): Promise<void> {
  const { given, out, signal, io } = call
  const agent = given.text('agent')
  if (agent === undefined)
    throw fail('usage', { what: 'Sessions are listed by agent.' }, { fix: '--agent NAMESPACE.NAME' })
  const [skip, take, versionId] = [
    wholeNumber(given.text('skip'), 'skip'),
    wholeNumber(given.text('take'), 'take', 1),
    given.text('version-id'),
  ]
  const query = {
    ...(skip !== undefined && { skip }),
    ...(take !== undefined && { take }),
    ...(versionId !== undefined && { versionId }),
  }
  const project = await openProject(call)
  const target = await openAgentTarget(call, project, agent)
  try {
    const agentId = target.operator
      ? (await agentOf(agent, target.operator)).agentId
      : agentIdFrom(agent, project.workspace)
    if (given.flag('all')) {
      for await (const session of iterateSessions(target.client, agentId, query, { signal })) await out.ndjson(session)
      return
    }
    await printList(
      call,
      await target.client.listSessions(agentId, query, { signal }),
      columns(io.clock.now()),
      `No sessions of ${agent}.`,
    )
  } finally {
    await target.close()
  }
}

const columns = (now: number): readonly Column<SessionItem>[] => [
  { title: 'SESSION', cell: ({ id }) => shortId(id), plain: ({ id }) => id },
  { title: 'STATUS', cell: ({ status }) => status, style: (theme, { status }) => styleOfStatus(theme, status) },
  { title: 'RUNS', cell: ({ runCount }) => String(runCount), align: 'right' },
  { title: 'TRIGGER', cell: ({ triggerName, triggerType }) => triggerName ?? triggerType },
  {
    title: 'STARTED',
    cell: ({ startedAt }) => relative(Date.parse(startedAt), now),
    plain: ({ startedAt }) => startedAt,
  },
  { title: 'TOKENS', cell: ({ totalTokensUsed }) => String(totalTokensUsed), align: 'right' },
  { title: 'RUN', cell: ({ rootRunId }) => shortId(rootRunId ?? ''), plain: ({ rootRunId }) => rootRunId ?? '' },
]
