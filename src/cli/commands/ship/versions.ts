import { fail } from '../../../base/failure.ts'
import { authorityMatrix } from '../../../authority/matrix.ts'
import type { OperatorRoutes, OperatorAnswer } from '../../../operations/operations.ts'
import type { VersionView } from '../../../operations/versions.ts'
import type { AgentSnapshot } from '../../../spec/snapshot.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import type { CommandContext } from '../../shell/command.ts'
import { printOne } from '../../shell/screen/list.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { askOfAgent, listCommand } from '../../project/request-command.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import { versionViews } from '../../project/registry.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

/** The snapshot that the digest covers, beside the later remarks about it. */
type ShownVersion = AgentSnapshot & { readonly yanked?: true; readonly yankReason?: string }

export async function versionsShow(call: CommandContext<ShownVersion>): Promise<void> {
  const { name, version } = versionIn(call)
  await withOperator(call, async (operator) => {
    const { agentId } = await resolveAgent(name, operator)
    const snapshot = await operator.call('GET /snapshot', { query: { agent: agentId, version } })
    const view = (await versionViews(operator, agentId)).find(({ versionLabel }) => versionLabel === snapshot.version)
    const { model, digest, boundaries, inputContract, output } = snapshot
    const withdrawn = view?.yanked
      ? { yanked: true as const, ...(view.yankReason !== undefined && { yankReason: view.yankReason }) }
      : {}
    await printOne(call, { ...snapshot, ...withdrawn }, [
      { key: 'agent', value: `${snapshot.id}@${snapshot.version}` },
      ...(view?.yanked ? [{ key: 'yanked', value: yankOf(view) }] : []),
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

/** Versions of an agent, a Tool or a Policy. Asks for the kind only where several documents have this name. */
export async function versionsYank(call: CommandContext<OperatorAnswer<'POST /yank'>>): Promise<void> {
  const { given, mode, out } = call
  const { name: id, version } = versionIn(call)
  const wanted = given.text('kind')
  const undo = given.flag('undo')
  if (undo && given.text('reason') !== undefined) throw usageFailure('--undo takes no --reason.')
  await withOperator(call, async (operator) => {
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
    const reason = undo ? '' : await reasonFor(call)
    const body = { kind, id, version, yanked: !undo, ...(reason !== '' && { reason }) }
    const yanked = await operator.call('POST /yank', { body })
    if (mode.json) return await out.json(yanked)
    out.line(
      `${yanked.yanked ? 'yanked' : 'no longer yanked:'} ${kind === 'Agent' ? '' : `${kind.toLowerCase()} `}${id}@${version}`,
    )
  })
}

/** Empty for none. */
async function reasonFor({ given, mode, io, signal }: CommandContext): Promise<string> {
  const reason = given.text('reason')
  if (reason !== undefined || mode.yes || !mode.interactive) return (reason ?? '').trim()
  return (await io.prompts.text('Reason, shown to whoever would deploy it (empty: none):', signal)).trim()
}

function versionIn({ given }: CommandContext): { readonly name: string; readonly version: string } {
  const text = given.required(0)
  const { name, version } = splitVersion(text)
  if (version === undefined) throw usageFailure(`"${text}" names no version; write namespace.name@1.2.0.`)
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
    cell: ({ versionLabel }) => versionLabel,
  },
  {
    title: 'DEPLOYED',
    cell: ({ deployed }) => (deployed ? 'yes' : ''),
    plain: ({ deployed }) => (deployed ? 'yes' : 'no'),
  },
  timeColumn('PUBLISHED', ({ publishedAt }) => publishedAt, now),
  { title: 'BY', cell: ({ publishedBy }) => publishedBy },
  { title: 'DIGEST', cell: ({ digest }) => digest.replace('sha256:', '').slice(0, 8), plain: ({ digest }) => digest },
]

/** Shown where a version is yanked. */
const YANKED: TableColumn<VersionView> = { title: 'YANKED', cell: (view) => (view.yanked ? yankOf(view) : '') }

export const versionsList = listCommand('GET /versions', {
  ask: askOfAgent,
  columns: (now, items) => [...columns(now), ...(items.some(({ yanked }) => yanked) ? [YANKED] : [])],
  nothing: ({ given }) => `No versions of ${given.required(0)}.`,
})

const yankOf = ({ yankReason }: VersionView): string => yankReason ?? 'yes'
