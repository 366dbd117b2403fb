/** What a publication would change, as text for a person and as details of a refusal. */
import type { InvalidPlace } from '../../base/failure.ts'
import type { VersionChange } from '../../authority/change.ts'
import type { CommandContext } from '../shell/command.ts'
import { answerScreen, messageScreen } from '../shell/screen/list.ts'
import { changeLines, countChanges, paintChange } from './changes.ts'
import { matrixLines } from './matrix-lines.ts'
import type { PublishPlan } from './plan.ts'

/** @param asked true for `--plan`, whose answer goes to standard output; else the plan is a message beside the answer */
export function printPlan(
  { mode, out, io }: Pick<CommandContext, 'mode' | 'out' | 'io'>,
  plan: PublishPlan,
  asked: boolean,
): void {
  if (mode.json) return
  for (const { id, from, to, required, least, enough } of plan.steps) {
    if (from === null && !asked) continue
    const bumps = enough ? (required ?? 'first version') : `${required}: at least ${least}`
    out.message(`plan  ${id} ${from === null ? to : `${from} → ${to}`}  ${bumps}`)
  }
  const lines = changeLines(plan.changes, io.stdout.isTTY)
  const screen = asked ? answerScreen({ io, mode }) : messageScreen({ io, mode })
  lines.map((line) => paintChange(screen.theme, line)).forEach(asked ? out.prose : out.message)
  // A first version has no predecessor: its whole authority is new.
  for (const { agent, rows } of plan.matrix) matrixLines(screen, agent, rows).forEach(asked ? out.line : out.message)
  if (plan.changes.length > 0) out.message(countChanges(plan))
  else if (plan.matrix.length === 0) out.message('nothing changes')
}

/** The changes, each beside the document that it is about. */
export const changeDetails = (
  changes: readonly VersionChange[],
  suffix: (change: VersionChange) => string = () => '',
): readonly InvalidPlace[] =>
  changes.map((change) => ({ path: change.agent, message: withoutAgent(change) + suffix(change) }))

/** The text of a change without the agent at its beginning, which the path names already. */
const withoutAgent = ({ agent, say }: VersionChange): string =>
  say.startsWith(`${agent}: `) ? say.slice(agent.length + 2) : say
