/**
 * `svc restore --plan` and `--resume`: shows the runs that a restore holds, and releases them.
 * Source: docs/design/runs-and-recovery.md#restoring
 */
import type { RepeatView, RestoredView } from '../../../operations/server.ts'
import { drawTable, type TableColumn } from '../../../terminal/table.ts'
import { shortId } from '../../../base/text/short-text.ts'
import { parseDuration } from '../../../base/duration.ts'
import { readText } from '../../runs/input.ts'
import type { CommandContext } from '../../shell/command.ts'
import { confirmLoss } from '../../shell/prompts/confirm.ts'
import { countNoun } from '../../shell/counted.ts'
import { answerScreen, messageScreen } from '../../shell/screen/list.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import type { OperatorAnswer } from '../../../operations/operations.ts'
import { triggerOf } from '../ship/triggers.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

const NOTHING = 'Nothing is held.'

/** @throws Failure `needs_terminal` where a confirmation is needed and there is no terminal */
export async function releaseHeld(
  call: CommandContext<OperatorAnswer<'GET /restored'> | OperatorAnswer<'POST /restored/release'>>,
): Promise<void> {
  const { given, mode, out } = call
  if (given.argument(0) !== undefined)
    throw usageFailure('A backup is restored first, and released in a command of its own.')
  if (given.flag('plan') && given.flag('resume'))
    throw usageFailure('--plan lists what --resume releases: one of them at a time.')
  const said = await saidOf(call)
  await withOperator(call, async (operator) => {
    const body = await named(call, operator)
    const held = await operator.call('GET /restored', { query: body })
    const about = describeRestore(held.restore)
    if (given.flag('plan')) {
      if (mode.json) return await out.json(held)
      about.forEach(out.message)
      const lines = drawPlan(answerScreen(call), held)
      return lines.length === 0 ? out.message(NOTHING) : lines.forEach(out.line)
    }
    const total = held.runs.length + held.triggers.length
    const isHeld = total > 0 || held.restore?.releasedAt === null
    if (isHeld && !mode.yes) {
      about.forEach(out.message)
      drawPlan(messageScreen(call), held).forEach(out.message)
      const what = Object.keys(body).length === 0 ? 'all of it' : 'what was named'
      if (!(await confirmLoss(call, `Release ${what}? Calls made after the backup may then be made again.`)))
        return out.message('kept')
    }
    const released = await operator.call('POST /restored/release', { body: { ...body, ...said } })
    if (mode.json) return await out.json(released)
    const { runs, triggers, known, asksUntil } = released
    out.line(isHeld ? `released ${countNoun(runs, 'run')}, ${countNoun(triggers, 'trigger')}` : NOTHING)
    if (known > 0) out.line(`${countNoun(known, 'effect key')} taken for what is known to have happened`)
    if (asksUntil !== null && Date.parse(asksUntil) > call.io.clock.now())
      out.message(
        `Until ${asksUntil} a person is asked before an unsafe call, or one with an effect key, that may have been made between backup and restore. svc restore --resume --ask-for 0 ends that.`,
      )
  })
}

/** What else than names --resume takes. */
async function saidOf(
  call: CommandContext,
): Promise<{ readonly asksForSeconds?: number; readonly happened?: string[] }> {
  const [askFor, file] = [call.given.text('ask-for'), call.given.text('happened')]
  if ((askFor ?? file) !== undefined && !call.given.flag('resume'))
    throw usageFailure('--ask-for and --happened belong to --resume.')
  if (askFor !== undefined && ['run', 'agent', 'trigger'].some((name) => call.given.text(name) !== undefined))
    throw usageFailure(
      '--ask-for is said of everything that a restore holds.',
      `svc restore --resume --ask-for ${askFor}`,
    )
  const askForMs = askFor === undefined || askFor === '0' ? 0 : parseDuration(askFor)
  if (askForMs === undefined)
    throw usageFailure(`--ask-for ${askFor} is no duration.`, 'svc restore --resume --ask-for 7d')
  const lines =
    file === undefined ? [] : (await readText(file, call)).split(/\r?\n/).filter((line) => line.trim() !== '')
  return {
    ...(askFor !== undefined && { asksForSeconds: Math.ceil(askForMs / 1000) }),
    ...(lines.length > 0 && { happened: lines }),
  }
}

/** What the server does not know, and what follows from it. */
function describeRestore(restore: RestoredView['restore']): string[] {
  if (!restore) return []
  const { at, backedUpAt, releasedAt, asksUntil } = restore
  const what = `Restored at ${at} from a backup of ${backedUpAt}: calls, undos and effect keys from between the two are not known here.`
  if (releasedAt === null)
    return [
      what,
      'Until svc restore --resume nothing is sent: neither by what the backup held nor by new starts, retries, forks and undos of operators.',
    ]
  return [
    what,
    `Released at ${releasedAt}; calls that may have been made before ask a person until ${asksUntil ?? 'then'}.`,
  ]
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
