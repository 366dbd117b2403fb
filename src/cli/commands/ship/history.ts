/** `svc versions files` and `svc versions history`: published files as they were written, and who deployed what and why. */
import { fail } from '../../../base/failure.ts'
import { safeText } from '../../../base/text/escape-text.ts'
import type { DeploymentView, SourcesView } from '../../../operations/versions.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { describeDeployed } from '../../../view/deployed-version.ts'
import { withOperator } from '../../project/server/operator.ts'
import { askOfAgent, listCommand } from '../../project/request-command.ts'
import { splitVersion } from '../../project/reference.ts'
import { suggestWord } from '../../../base/text/nearest-word.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printTable } from '../../shell/screen/list.ts'

type SourceFile = SourcesView['files'][number]

/** Lists the files of a version, or prints one. */
export async function versionsSource(call: CommandContext<SourcesView>): Promise<void> {
  const { given, mode, out } = call
  const { name: id, version } = splitVersion(given.required(0))
  const path = given.argument(1)
  await withOperator(call, async (operator) => {
    const query = { id, ...(version !== undefined && { version }), kind: kindOf(given.text('kind')) }
    const sources = await operator.call('GET /sources', { query })
    if (mode.json) return await out.json(sources)
    if (path === undefined) return printTable(call, sources.files, columns, 'No files.')
    const file = sources.files.find((each) => each.path === path)
    const paths = sources.files.map((each) => each.path)
    if (!file) throw fail('not_found', { what: `file ${path} of ${id}` }, { fix: suggestWord(path, paths) })
    return out.line(file.text.replace(/\n$/, ''))
  })
}

function kindOf(given: string | undefined): 'Agent' | 'Tool' | 'Policy' {
  if (given === 'tool') return 'Tool'
  return given === 'policy' ? 'Policy' : 'Agent'
}

const columns: readonly TableColumn<SourceFile>[] = [
  { title: 'PATH', cell: ({ path }) => path },
  { title: 'BYTES', cell: ({ text }) => String(Buffer.byteLength(text)), align: 'right' },
  { title: 'DIGEST', cell: ({ digest }) => digest.slice(7, 15), plain: ({ digest }) => digest },
]

const historyColumns = (now: number): readonly TableColumn<DeploymentView>[] => [
  timeColumn('WHEN', ({ at }) => at, now),
  { title: 'VERSION', cell: describeDeployed, plain: ({ versionLabel }) => versionLabel },
  { title: 'BEFORE', cell: ({ from }) => from ?? '-' },
  { title: 'BY', cell: ({ by }) => safeText(by) },
  { title: 'WHY', cell: ({ message }) => safeText(message ?? '') },
]

export const agentsHistory = listCommand('GET /deployments', {
  ask: askOfAgent,
  columns: historyColumns,
  nothing: ({ given }) => `${given.required(0)} was never deployed.`,
})
