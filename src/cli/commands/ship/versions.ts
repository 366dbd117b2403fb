import { fail } from '../../../base/failure.ts'
import { authorityMatrix } from '../../../compile/view/matrix.ts'
import type { OperatorRoutes, VersionView } from '../../../spec/operator.ts'
import type { TableColumn } from '../../../terminal/table.ts'
import { formatRelative } from '../../../terminal/time.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printList, printOne } from '../../shell/list.ts'
import { withOperator, type OperatorClient } from '../../project/operator.ts'
import { openProject } from '../../project/project.ts'
import { agentOf, splitVersion } from '../../project/reference.ts'
import { versionViews } from '../../project/registry.ts'

export async function versionsList(call: CommandContext): Promise<void> {
  await withOperator(await openProject(call), call, async (operator) => {
    const { agentId, name } = await agentOf(call.given.argument(0)!, operator)
    const list = await operator.call('GET /versions', { query: { agent: agentId } })
    await printList(call, list, columns(call.io.clock.now()), `No versions of ${name}.`)
  })
}

export async function versionsShow(call: CommandContext): Promise<void> {
  const { name, version } = versionIn(call)
  await withOperator(await openProject(call), call, async (operator) => {
    const { agentId } = await agentOf(name, operator)
    const snapshot = await operator.call('GET /snapshot', { query: { agent: agentId, version } })
    const { model, digest, boundaries, inputContract, output } = snapshot
    await printOne(call, snapshot, [
      { key: 'agent', value: `${snapshot.id}@${snapshot.version}` },
      { key: 'digest', value: digest },
      { key: 'model', value: `${model.provider}/${model.name}` },
      { key: 'boundaries', value: boundaries.join(', ') || 'none' },
      { key: 'input', value: inputContract === undefined ? 'any object' : JSON.stringify(inputContract) },
      { key: 'output', value: output.format },
      ...authorityMatrix(snapshot).map(({ tool, decision, by, when }) => ({
        key: 'call',
        value: `${tool}: ${decision} by ${by}, ${when}`,
      })),
    ])
  })
}

type Yanked = OperatorRoutes['POST /yank']['answer']

/** Of an agent, a Tool or a Policy; which of them is only asked where a name is of several. */
export async function versionsYank(call: CommandContext): Promise<void> {
  const { given, mode, out } = call
  const { name: id, version } = versionIn(call)
  const wanted = given.text('kind')
  await withOperator(await openProject(call), call, async (operator) => {
    const kinds = (await kindsOf(operator, id, version)).filter(
      (kind) => wanted === undefined || kind.toLowerCase() === wanted,
    )
    const [kind, ...others] = kinds
    if (!kind) throw fail('not_found', { what: `published version ${id}@${version}` })
    if (others.length > 0)
      throw fail(
        'ambiguous_reference',
        { text: `${id}@${version}`, candidates: kinds.join(' or ') },
        { fix: 'Say which with --kind.' },
      )
    const yanked = await operator.call('POST /yank', { body: { kind, id, version, yanked: !given.flag('undo') } })
    if (mode.json) return await out.json(yanked)
    out.line(
      `${yanked.yanked ? 'yanked' : 'no longer yanked:'} ${kind === 'Agent' ? '' : `${kind.toLowerCase()} `}${id}@${version}`,
    )
  })
}

function versionIn({ given }: CommandContext): { readonly name: string; readonly version: string } {
  const text = given.argument(0)!
  const { name, version } = splitVersion(text)
  if (version === undefined) throw fail('usage', { what: `"${text}" names no version; write namespace.name@1.2.0.` })
  return { name, version }
}

async function kindsOf(operator: OperatorClient, id: string, version: string): Promise<readonly Yanked['kind'][]> {
  const agents = (await versionViews(operator, id)).filter(({ versionLabel }) => versionLabel === version)
  const documents = await Promise.all(
    (['Tool', 'Policy'] as const).map(
      async (kind) => (await operator.call('GET /documents', { query: { kind, id } })).items,
    ),
  )
  return [
    ...agents.map(() => 'Agent' as const),
    ...documents.flat().flatMap(({ kind, version: each }) => (each === version ? [kind] : [])),
  ]
}

const columns = (now: number): readonly TableColumn<VersionView>[] => [
  {
    title: 'VERSION',
    cell: ({ versionLabel, yanked }) => `${versionLabel}${yanked ? ' (yanked)' : ''}`,
    plain: ({ versionLabel }) => versionLabel,
  },
  {
    title: 'DEPLOYED',
    cell: ({ deployed }) => (deployed ? 'yes' : ''),
    plain: ({ deployed }) => (deployed ? 'yes' : 'no'),
  },
  {
    title: 'PUBLISHED',
    cell: ({ publishedAt }) => formatRelative(Date.parse(publishedAt), now),
    plain: ({ publishedAt }) => publishedAt,
  },
  { title: 'BY', cell: ({ publishedBy }) => publishedBy },
  { title: 'DIGEST', cell: ({ digest }) => digest.replace('sha256:', '').slice(0, 8), plain: ({ digest }) => digest },
]
