/** Lists of runs: their columns, and the full screen that shows them with their conversations. */
import type { Conversation } from '../../../spec/api.ts'
import type { RunView } from '../../../operations/runs.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import { shortDuration, shortId, withoutNamespace } from '../../../base/text/short-text.ts'
import { drawTimeline } from '../../../terminal/timeline.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { truncateText } from '../../../terminal/text.ts'
import { styleOfStatus } from '../../../terminal/theme.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import type { Project } from '../../project/project.ts'
import { withKeyNames } from '../../runs/key-names.ts'
import { runListScreen, type LiveList } from '../../runs/list-screen.ts'
import { arrangeRunTree, type ListedRun } from '../../runs/run-tree.ts'
import type { CommandContext } from '../../shell/command.ts'

export const runKeyOf = ({ runId, status, waitingOn }: RunView): string => `${runId} ${status} ${waitingOn ?? ''}`

/** The runs as a full screen, with the conversation of the chosen one beside them. */
export async function watchRuns(
  call: CommandContext,
  project: Project,
  loadItems: () => Promise<readonly RunView[]>,
  choice?: Pick<LiveList<ListedRun>, 'isChoice' | 'title' | 'emptyMessage'>,
): Promise<RunView | undefined> {
  /** The conversation of a run changes only together with its status, its tokens or its open task. */
  let read: { readonly key: string; readonly conversation: Conversation } | undefined
  const chosen = await runListScreen<ListedRun>(call, {
    title: (count) => `svc runs · ${count} newest`,
    note: safeText(project.workspace),
    loadItems: async () => arrangeRunTree(await loadItems()),
    idOf: ({ run }) => run.runId,
    keyOf: ({ run }) => runKeyOf(run),
    columns: treeColumns,
    emptyMessage: NO_RUNS,
    soundsBell: false,
    drawDetail: async ({ run }, canvas) => {
      const key = `${runKeyOf(run)} ${run.totalTokensUsed}`
      if (read?.key !== key)
        read = {
          key,
          conversation: await withOperatorOf(project, call, async (operator) => {
            const found = await operator.call('GET /v1/runs/:id/conversation', { id: run.runId, query: {} })
            return { ...found, items: await withKeyNames(found.items, operator) }
          }),
        }
      const { items, runs } = read.conversation
      const head = `${run.agent}@${run.versionLabel}`
      return [
        canvas.theme.name(truncateText(safeText(head), canvas.width)),
        styleOfStatus(canvas.theme, run.status)(truncateText(safeText(describeState(run)), canvas.width)),
        '',
        ...drawTimeline(canvas, items, runs),
      ]
    },
    ...choice,
  })
  return chosen?.run
}

const describeState = ({ status, waitingOn, hold, runId }: RunView): string =>
  [`run ${shortId(runId)}`, status, waitingOn, hold && `held: ${hold.reason}`].filter(Boolean).join(' · ')

export const NO_RUNS = 'No runs. svc run starts one.'

export const runColumns = (now: number): readonly TableColumn<RunView>[] => [
  { title: 'RUN', cell: ({ runId }) => shortId(runId), plain: ({ runId }) => runId },
  { title: 'AGENT', cell: ({ agent }) => agent, short: ({ agent }) => withoutNamespace(agent) },
  { title: 'STATUS', cell: ({ status }) => status, style: (theme, { status }) => styleOfStatus(theme, status) },
  { ...timeColumn('STARTED', ({ startedAt }) => startedAt, now), dropOrder: 2 },
  { title: 'TOOK', dropOrder: 3, cell: (run) => took(run, now), plain: ({ finishedAt }) => finishedAt ?? '' },
  { title: 'TOKENS', dropOrder: 4, cell: ({ totalTokensUsed }) => String(totalTokensUsed), align: 'right' },
  {
    title: '',
    dropOrder: 1,
    isFlexible: true,
    style: (theme) => theme.waiting,
    cell: ({ waitingOn, hold }) => (hold ? `held: ${hold.reason}` : (waitingOn ?? '')),
    short: ({ waitingOn, hold }) => (hold ? `held: ${hold.reason}` : (waitingOn ?? '').replace(/: [^.\s]+\./, ': ')),
  },
]

/** Columns of a tree of runs: sub-agents are indented below the agent that asked them. */
export const treeColumns = (now: number): readonly TableColumn<ListedRun>[] =>
  runColumns(now).map(({ title, cell, short, align, style, dropOrder, isFlexible }) => ({
    title,
    ...(dropOrder !== undefined && { dropOrder }),
    ...(isFlexible !== undefined && { isFlexible }),
    cell: ({ run, indent }) => indentedIf(title === 'AGENT', indent, cell(run)),
    ...(short && { short: ({ run, indent }) => indentedIf(title === 'AGENT', indent, short(run)) }),
    ...(align && { align }),
    ...(style && { style: (theme, { run }) => style(theme, run) }),
  }))

const indentedIf = (isIndented: boolean, indent: number, text: string): string =>
  isIndented ? `${'  '.repeat(indent)}${text}` : text

const took = ({ startedAt, finishedAt }: RunView, now: number): string =>
  finishedAt === null
    ? `${shortDuration(now - Date.parse(startedAt))}+`
    : shortDuration(Date.parse(finishedAt) - Date.parse(startedAt))
