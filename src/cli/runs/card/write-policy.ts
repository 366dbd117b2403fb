/** `W`: the policy that would have decided so, proposed on the card. */
import { relative } from 'node:path'
import { isFailure } from '../../../base/failure.ts'
import { safeBlock, safeText } from '../../../base/text/escape-text.ts'
import type { ShownTask } from '../../../spec/task.ts'
import { presentKeyedTask } from '../../../view/task/task-actions.ts'
import { fitApproval } from '../../../terminal/approval.ts'
import type { Canvas } from '../../../terminal/screen.ts'
import { wrapText } from '../../../terminal/text.ts'
import { openProject } from '../../project/project.ts'
import { quoteShell } from '../example-input.ts'
import { again, type OpenDecision } from './open-decision.ts'

/** Proposes the policy that would have decided so, in files beside the data: nothing is deployed. */
export async function writePolicy(decision: OpenDecision, task: ShownTask): Promise<'again'> {
  const { session, surface, signal } = decision
  const { call } = session
  const card = presentKeyedTask(task, call.io.clock.now())
  const { canvas } = surface
  const footer = canvas.theme.strong('write a policy that would have  [a]llowed  [d]enied  it, or  [n]one')
  surface.show(fitApproval(canvas, card, surface.rows, { footer }).lines)
  const key = await surface.key(['a', 'd', 'n'], signal, { deciding: ['a', 'd'] })
  if (key !== 'a' && key !== 'd') return 'again'
  try {
    const [{ proposePolicy, saveProposal }, { loadWorkspace }] = await Promise.all([
      import('./propose-policy.ts'),
      import('../../../documents/workspace/load.ts'),
    ])
    const project = await openProject(call)
    const workspace = await loadWorkspace(project.directory)
    const proposal = proposePolicy(workspace, task, key === 'a' ? 'allow' : 'deny', call.io.clock.now())
    const path = await saveProposal(project.dataDirectory, task, proposal)
    await surface.page(
      safeBlock(proposal.difference)
        .split('\n')
        .map((line) => colorDifference(canvas, line)),
    )
    const lines = [
      `Proposed in ${fromHere(call.cwd, path)}; nothing is changed or deployed. To take it:`,
      patchCommand(call.cwd, project.directory, path),
    ]
    decision.panel = {
      key: 'W',
      lines: lines.flatMap((line) => wrapText(safeText(line), canvas.width - 2)).map(canvas.theme.ok),
    }
    return 'again'
  } catch (error) {
    if (!isFailure(error)) throw error
    return again(decision, error.message)
  }
}

/** The shorter of the two ways to name a path. */
const fromHere = (cwd: string, path: string): string => {
  const near = relative(cwd, path) || '.'
  return near.length < path.length ? near : path
}

const patchCommand = (cwd: string, project: string, difference: string): string =>
  `patch -p0${project === cwd ? '' : ` -d ${quoteShell(project)}`} < ${quoteShell(fromHere(cwd, difference))}`

function colorDifference({ theme }: Canvas, line: string): string {
  if (line.startsWith('+')) return theme.ok(line)
  return line.startsWith('-') ? theme.bad(line) : line
}
