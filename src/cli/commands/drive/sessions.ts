import { fail } from '../../../base/failure.ts'
import { isUuid, toAgentId } from '../../../base/ids.ts'
import type { SessionItem } from '../../../client/index.ts'
import type { RunView } from '../../../operations/runs.ts'
import { describeCost } from '../../../spec/price.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { styleOfStatus } from '../../../terminal/theme.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { formatDuration, formatRelative } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen, printList } from '../../shell/screen/list.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator, withOperatorOf } from '../../project/server/operator.ts'
import { openProject, type Project } from '../../project/project.ts'
import { resolveAgent, sessionIdOf } from '../../project/reference.ts'
import { versionViews } from '../../project/registry.ts'
import { openTarget } from '../../project/server/target.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

type ListedSession = SessionItem & { readonly agent?: string }
interface Query {
  readonly skip: number
  readonly take: number
  readonly versionId?: string
}
type ReadPage = (query: Query) => Promise<{ readonly items: readonly ListedSession[]; readonly total: number }>

const DEFAULT_TAKE = 50
/** Maximum items per page. */
const LARGEST_TAKE = 500

export async function sessionsList(call: CommandContext<unknown>): Promise<void> {
  const { given, out, io } = call
  const project = await openProject(call)
  const [skip, take] = [wholeNumber(given.text('skip'), 'skip') ?? 0, wholeNumber(given.text('take'), 'take', 1)]
  await withPages(call, project, async (read, agent, versionId) => {
    const query = { skip, ...(versionId !== undefined && { versionId }) }
    if (given.flag('all')) {
      // New sessions move the others to later pages.
      const seen = new Set<string>()
      for (let at = skip; ;) {
        const { items } = await read({ ...query, skip: at, take: take ?? LARGEST_TAKE })
        for (const session of items) if (!seen.has(session.id)) await out.ndjson(session)
        for (const { id } of items) seen.add(id)
        if (items.length === 0) return
        at += items.length
      }
    }
    await printList(
      call,
      await read({ ...query, take: take ?? DEFAULT_TAKE }),
      columns(io.clock.now(), agent === undefined),
      agent === undefined ? 'No sessions. svc run starts one.' : `No sessions of ${agent}.`,
    )
  })
}

/** Through the API if a key was given, which requires the agent; otherwise through the operator application. */
async function withPages(
  call: CommandContext,
  project: Project,
  work: (read: ReadPage, agent: string | undefined, versionId: string | undefined) => Promise<void>,
): Promise<void> {
  const { given, signal } = call
  const agent = given.text('agent')
  const version = given.text('version')
  if ((await project.apiKey()) !== undefined) {
    if (agent === undefined)
      throw usageFailure('With an API key, sessions are listed by agent.', '--agent NAMESPACE.NAME')
    if (version !== undefined && !isUuid(version))
      throw usageFailure(`With an API key a version is named by its full id, not by "${version}".`)
    const target = await openTarget(project, call.io)
    const agentId = toAgentId(project.workspace, agent)
    return await work((query) => target.client.listSessions(agentId, query, { signal }), agent, version)
  }
  await withOperatorOf(project, call, async (operator) => {
    const known = agent === undefined ? undefined : await resolveAgent(agent, operator)
    const versionId = version === undefined ? undefined : await versionIdOf(version, known?.agentId, operator)
    const read: ReadPage = ({ skip, take }) =>
      operator.call('GET /sessions', {
        query: {
          skip: String(skip),
          take: String(take),
          ...(known && { agent: known.agentId }),
          ...(versionId !== undefined && { versionId }),
        },
      })
    await work(read, known?.name, versionId)
  })
}

async function versionIdOf(text: string, agentId: string | undefined, operator: OperatorClient): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  if (agentId === undefined) throw usageFailure(`"${text}" is a version of one agent.`, '--agent NAMESPACE.NAME')
  const found = (await versionViews(operator, agentId)).find(({ versionLabel }) => versionLabel === text)
  if (!found) throw fail('not_found', { what: `version ${text}` })
  return found.agentVersionId
}

const columns = (now: number, named: boolean): readonly TableColumn<ListedSession>[] => [
  { title: 'SESSION', cell: ({ id }) => shortId(id), plain: ({ id }) => id },
  ...(named ? [{ title: 'AGENT', cell: ({ agent = '' }: ListedSession) => agent }] : []),
  { title: 'STATUS', cell: ({ status }) => status, style: (theme, { status }) => styleOfStatus(theme, status) },
  { title: 'RUNS', cell: ({ runCount }) => String(runCount), align: 'right' },
  { title: 'TRIGGER', cell: ({ triggerName, triggerType }) => triggerName ?? triggerType },
  { title: 'BY', cell: ({ triggeredBy }) => shortId(triggeredBy ?? ''), plain: ({ triggeredBy }) => triggeredBy ?? '' },
  timeColumn('STARTED', ({ startedAt }) => startedAt, now),
  { title: 'TOKENS', cell: ({ totalTokensUsed }) => String(totalTokensUsed), align: 'right' },
  { title: 'COST', cell: ({ cost }) => (cost && describeCost(cost)) ?? '', align: 'right' },
  { title: 'RUN', cell: ({ rootRunId }) => shortId(rootRunId ?? ''), plain: ({ rootRunId }) => rootRunId ?? '' },
]

/** The tree of runs: who started whom, and the status of each. */
export async function sessionsShow(call: CommandContext<OperatorAnswer<'GET /sessions/:id'>>): Promise<void> {
  const { given, mode, out } = call
  await withOperator(call, async (operator) => {
    const id = await sessionIdOf(given.required(0), operator)
    const session = await operator.call('GET /sessions/:id', { id })
    if (mode.json) return await out.json(session)
    const { theme, isTTY } = answerScreen(call)
    const name = (id: string): string => (isTTY ? shortId(id) : id)
    const now = call.io.clock.now()
    const { title, erasedAt, legalHold, tags = [] } = session
    const facts = [
      ...(title === undefined ? [] : [safeText(title)]),
      ...tags.map((tag) => `#${safeText(tag)}`),
      ...(legalHold ? ['legal hold'] : []),
      ...(erasedAt === undefined ? [] : [`content erased ${formatRelative(Date.parse(erasedAt), now)}`]),
    ]
    const status = styleOfStatus(theme, session.status)(session.status)
    out.line([`${name(session.id)} ${status}`, ...facts].join('  '))
    const draw = (run: RunView, lead: string, last: boolean): void => {
      const { runId, agent, status, depth, waitingOn } = run
      const parts = [
        `${name(runId)} ${theme.name(safeText(agent))}`,
        styleOfStatus(theme, status)(status),
        took(run, now),
        ...(depth > 0 ? [`depth ${depth}`] : []),
        ...(waitingOn === undefined ? [] : [safeText(waitingOn)]),
      ]
      out.line(`${theme.dim(`${lead}${last ? '└─' : '├─'}`)} ${parts.join('  ')}`)
      drawAll(runId, `${lead}${last ? '   ' : '│  '}`)
    }
    const drawAll = (parent: string | null, lead: string): void => {
      const children = session.runs.filter(({ parentRunId }) => parentRunId === parent)
      children.forEach((child, at) => draw(child, lead, at === children.length - 1))
    }
    drawAll(null, '')
  })
}

const took = ({ startedAt, finishedAt }: RunView, now: number): string =>
  finishedAt === null
    ? `${formatDuration(now - Date.parse(startedAt))} so far`
    : formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))
