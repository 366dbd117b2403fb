/** Repeats recorded decisions under other policies. Source: docs/design/policies.md#replay */
import { stat } from 'node:fs/promises'
import { relative, resolve } from 'node:path'
import { toIsoText } from '../../../base/clock.ts'
import type { Document } from '../../../documents/text/document.ts'
import type { Workspace } from '../../../documents/workspace/workspace.ts'
import { backtest, type Replacements } from '../../../policy/replay/backtest.ts'
import { assumedLine, rememberSnapshots } from '../../../policy/replay/recorded-facts.ts'
import type { DecisionFlip } from '../../../spec/explanation.ts'
import type { CompiledBundle, AgentSnapshot } from '../../../spec/snapshot.ts'
import { drawTable, type TableColumn } from '../../../terminal/table.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { answerScreen } from '../../shell/screen/list.ts'
import { parseMoment } from '../../shell/numbers.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperatorOf } from '../../project/server/operator.ts'
import { buildBundle } from '../../release/build.ts'
import { documentsFailure, printFindings } from '../../release/findings.ts'
import { policyDocuments, policySubjectOf, withPolicies } from '../../policy/subject.ts'
import { openProject, type Project } from '../../project/project.ts'
import type { backtestAnswer } from '../../answers/author.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { loadDocuments } from '../../project/documents.ts'

export async function policyBacktest(call: CommandContext<ValueOf<typeof backtestAnswer>>): Promise<void> {
  const { given, mode, out, cwd, io } = call
  const paths = given.list('policies')
  const [first] = paths
  if (first === undefined)
    throw usageFailure('Say which policies to decide under.', '--policies PATH, a bundle or Policy documents')
  const since = given.text('since')
  const agent = given.text('agent')
  const project = await openProject(call, resolve(cwd, first))
  await withOperatorOf(project, call, async (operator) => {
    const replacements = await readReplacements(call, project, operator, paths)
    const { items } = await operator.call('GET /decisions', {
      query: {
        ...(agent !== undefined && { agent }),
        ...(since !== undefined && { since: toIsoText(parseMoment(since, io.clock.now())) }),
      },
    })
    const snapshots = rememberSnapshots((agentId, version) =>
      operator.call('GET /snapshot', { query: { agent: agentId, version } }),
    )
    const { flips: found, assumed } = await backtest(items, snapshots, replacements)
    const flips = found.map(({ flip }) => flip)
    if (mode.json)
      return await out.json({
        calls: items.length,
        flips,
        ...(assumed.length > 0 && { assumed }),
      })
    if (flips.length > 0) drawTable(answerScreen(call), columns, flips).forEach((line) => out.line(line))
    out.message(`${items.length} ${items.length === 1 ? 'call' : 'calls'}, ${flips.length} would be decided otherwise`)
    const assumption = assumedLine(assumed)
    if (assumption !== undefined) out.message(assumption)
  })
}

/** Policy documents replace those of the same name, or are added; agents of a bundle replace the recorded ones. */
async function readReplacements(
  call: CommandContext,
  project: Project,
  operator: OperatorClient,
  paths: readonly string[],
): Promise<Replacements> {
  const agents = new Map<string, AgentSnapshot>()
  const documents: Document[] = []
  let workspace: Workspace | undefined
  for (const path of paths) {
    const bundle = await bundleIn(call, project, operator, resolve(call.cwd, path))
    bundle?.agents.forEach((snapshot) => agents.set(snapshot.id, snapshot))
    if (bundle) continue
    const found = await policyDocuments(project, [path], call.cwd)
    workspace = found.workspace
    documents.push(...found.documents)
  }
  const policiesOf = (snapshot: AgentSnapshot): AgentSnapshot['policies'] => {
    const current = agents.get(snapshot.id) ?? snapshot
    if (!workspace) return current.policies
    return withPolicies(policySubjectOf({ agents: [...agents.values()] }, current), workspace, documents).policies
  }
  const known = new Map<string, AgentSnapshot['policies']>()
  return {
    policiesOf(snapshot) {
      const set = known.get(snapshot.digest) ?? policiesOf(snapshot)
      known.set(snapshot.digest, set)
      return set
    },
    classOf: ({ agent, tool }) => agents.get(agent)?.tools.find(({ wire }) => wire === tool)?.sideEffectClass,
  }
}

/** The bundle at a path; undefined where there are Policy documents and no agent. */
async function bundleIn(
  call: CommandContext,
  project: Project,
  operator: OperatorClient,
  path: string,
): Promise<CompiledBundle | undefined> {
  if (!(await stat(path).catch(() => undefined))) return undefined
  const here = relative(project.directory, path).replaceAll('\\', '/')
  const { documents } = await loadDocuments(project)
  const isRoot = ({ kind, path }: Document) =>
    (kind === 'Agent' || kind === 'Bundle') && (here === '' || path === here || path.startsWith(`${here}/`))
  if (!documents.some(isRoot)) return undefined
  const { workspace, findings, compiled } = await buildBundle({ project, path, operator })
  if (compiled?.bundle) return compiled.bundle
  printFindings(call, findings, workspace)
  throw documentsFailure(findings, call)
}

const columns: readonly TableColumn<DecisionFlip>[] = [
  { title: 'RUN', cell: ({ runId }) => shortId(runId), plain: ({ runId }) => runId },
  { title: 'CALL', cell: ({ toolCallId }) => toolCallId },
  { title: 'TOOL', cell: ({ tool }) => tool },
  { title: 'WAS', cell: ({ was }) => was },
  { title: 'NOW', cell: ({ now }) => now },
  { title: 'BY', cell: ({ by }) => by },
]
