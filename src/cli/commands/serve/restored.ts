/** `svc restore --plan` and `--resume`: shows the runs that a restore holds, and releases them. Source: reliability, "Restoring". */
import type { RepeatView, RestoredView } from '../../../spec/operator/runs.ts'
import { drawTable, type TableColumn } from '../../../terminal/table.ts'
import { shortId } from '../../../base/short-text.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { countNoun } from '../../shell/counted.ts'
import { answerScreen, messageScreen } from '../../shell/screen/list.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import type { heldCounts, restorePlan } from '../../answers/serve.ts'
import type { AnswerOf } from '../../answers/schema.ts'
import { triggerOf } from '../ship/triggers.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

const NOTHING = 'Nothing is held.'

/** @throws Failure `needs_terminal` where a confirmation is needed and there is no terminal */
export async function releaseHeld(
  call: CommandContext<AnswerOf<typeof restorePlan | typeof heldCounts>>,
): Promise<void> {
  const { given, mode, out } = call
  if (given.argument(0) !== undefined)
    throw usageFailure('A backup is restored first, and released in a command of its own.')
  if (given.flag('plan') && given.flag('resume'))
    throw usageFailure('--plan lists what --resume releases: one of them at a time.')
  await withOperator(await openProject(call), call, async (operator) => {
    const body = await named(call, operator)
    const held = await operator.call('GET /restored', { query: body })
    if (given.flag('plan')) {
      if (mode.json) return await out.json(held)
      const lines = drawPlan(answerScreen(call), held)
      return lines.length === 0 ? out.message(NOTHING) : lines.forEach(out.line)
    }
    const total = held.runs.length + held.triggers.length
    if (total > 0 && !mode.yes) {
      drawPlan(messageScreen(call), held).forEach(out.message)
      const what = Object.keys(body).length === 0 ? 'all of it' : 'what was named'
      if (!(await confirmLoss(call, `Release ${what}? Calls made after the backup may then be made again.`)))
        return out.message('kept')
    }
    const released = await operator.call('POST /restored/release', { body })
    if (mode.json) return await out.json(released)
    out.line(
      released.runs + released.triggers === 0
        ? NOTHING
        : `released ${countNoun(released.runs, 'run')}, ${countNoun(released.triggers, 'trigger')}`,
    )
  })
}

async function named(
  { given }: CommandContext,
  operator: OperatorClient,
): Promise<{ readonly run?: string; readonly agent?: string; readonly trigger?: string }> {
  const [run, agent, trigger] = [given.text('run'), given.text('agent'), given.text('trigger')]
  return {
    ...(run !== undefined && { run: await runIdOf(run, operator) }),
    ...(agent !== undefined && { agent: (await resolveAgent(agent, operator)).agentId }),
    ...(trigger !== undefined && { trigger: (await triggerOf(trigger, operator)).triggerId }),
  }
}

interface PlanLine {
  readonly id: string
  readonly agent: string
  readonly state: string
  readonly repeats: string
}

const COLUMNS: readonly TableColumn<PlanLine>[] = [
  { title: 'HELD', cell: ({ id }) => shortId(id), plain: ({ id }) => id },
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'STATE', cell: ({ state }) => state },
  { title: 'WHEN RELEASED', cell: ({ repeats }) => repeats },
]

const drawPlan = (screen: Parameters<typeof drawTable>[0], { runs, triggers }: RestoredView): string[] => {
  const lines = [
    ...runs.map(({ runId, agent, status, mayRepeat }): PlanLine => ({
      id: runId,
      agent,
      state: status,
      repeats: mayRepeat.map(describeRepeat).join('; ') || 'waits',
    })),
    ...triggers.map(({ triggerId, agent, type, name, nextAt }): PlanLine => ({
      id: triggerId,
      agent,
      state: `${type} ${name}`,
      repeats: nextAt === null ? 'takes starts' : `starts a run at ${nextAt}`,
    })),
  ]
  return lines.length === 0 ? [] : drawTable(screen, COLUMNS, lines)
}

function describeRepeat({ what, tool, sideEffectClass, onRelease }: RepeatView): string {
  const subject = what === 'completion' ? 'a completion' : `${tool} (${sideEffectClass ?? 'no class'})`
  return onRelease === 'made' ? `${subject} is made again` : `${subject}: a person is asked`
}
