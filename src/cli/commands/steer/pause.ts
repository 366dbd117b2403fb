/**
 * `svc stop` and `svc agents pause|resume`: stop all new effects of an agent, a tool, a provider or everything.
 * Source: docs/design/steering.md#pauses
 */
import type { OperatorRoutes, OperatorAnswer } from '../../../operations/operations.ts'
import type { PauseView } from '../../../operations/pauses.ts'
import { CHECKPOINT_DEMAND, describePaused, type PauseTarget } from '../../../spec/steer/pause.ts'
import { describeApprover } from '../../../view/task/task-people.ts'
import { timeColumn, type TableColumn } from '../../../terminal/table.ts'
import { withOperator } from '../../project/server/operator.ts'
import { listCommand } from '../../project/request-command.ts'
import { resolveAgent, splitVersion } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { countNoun } from '../../shell/counted.ts'
import { usageFailure } from '../../../base/usage-failure.ts'

type PauseCommand = CommandContext<OperatorAnswer<'POST /pauses'>>
type StopCommand = CommandContext<OperatorAnswer<'POST /pauses'> | OperatorAnswer<'GET /pauses'>>

export const agentsPause = (call: PauseCommand): Promise<void> => pauseAgent(call, true)
export const agentsResume = (call: PauseCommand): Promise<void> => pauseAgent(call, false)

async function pauseAgent(call: PauseCommand, paused: boolean): Promise<void> {
  const { name, version } = splitVersion(call.given.required(0))
  await setPaused(call, paused, { kind: version === undefined ? 'agent' : 'version', name, version })
}

const TARGETS = ['agent', 'tool', 'provider', 'version'] as const

export async function stop(call: StopCommand): Promise<void> {
  const { given } = call
  const named = TARGETS.filter((kind) => given.text(kind) !== undefined)
  if (given.flag('list')) {
    if (named.length > 0 || given.flag('all') || given.flag('resume'))
      throw usageFailure('--list shows everything that is paused: give it alone.')
    return listPauses(call)
  }
  if (named.length + Number(given.flag('all')) !== 1)
    throw usageFailure('Name one thing to stop: --agent, --tool, --provider, --version or --all.')
  const kind = named[0] ?? 'all'
  const text = (named[0] && given.text(named[0])) ?? ''
  const { name, version } = kind === 'version' ? splitVersion(text) : { name: text, version: undefined }
  if (kind === 'version' && version === undefined)
    throw usageFailure('A version is named with its agent: --version acme.refund-desk@1.2.0.')
  await setPaused(call, !given.flag('resume'), { kind, name, version })
}

async function setPaused(
  call: PauseCommand | StopCommand,
  paused: boolean,
  { kind, name, version }: PauseTarget & { readonly version: string | undefined },
): Promise<void> {
  const reason = call.given.text('reason')
  await withOperator(call, async (operator) => {
    const isAgent = kind === 'agent' || kind === 'version'
    const full = isAgent ? (await resolveAgent(name, operator)).name : name
    const answer = await operator.call('POST /pauses', {
      body: {
        kind,
        paused,
        ...(kind !== 'all' && { name: version === undefined ? full : `${full}@${version}` }),
        ...(reason !== undefined && { reason }),
      },
    })
    if (call.mode.json) await call.out.json(answer)
    else for (const line of describeAnswer(answer)) call.out.line(line)
  })
}

/** Prints what changed, which runs it concerns and which effects are still ending; one sentence where nothing changed. */
function describeAnswer(answer: OperatorRoutes['POST /pauses']['answer']): readonly string[] {
  const { paused, changed, total, inFlight, pauses } = answer
  const what = describePaused(answer)
  const others = pauses.filter(
    ({ kind, name, by }) => by === CHECKPOINT_DEMAND || kind !== answer.kind || name !== answer.name,
  )
  const still = others.length === 0 ? [] : [`still paused: ${others.map(describePaused).join(', ')}`]
  if (!changed)
    return [
      paused
        ? `${what} is paused since ${answer.at}, by ${describeApprover(answer.by)}; nothing has changed`
        : `${what} is not paused; nothing has changed`,
      ...(paused ? [] : still),
    ]
  if (!paused) return [`${what} continues: ${countNoun(total, 'run')}`, ...still]
  const ending = inFlight === 0 ? 'nothing was under way' : `${countNoun(inFlight, 'effect')} under way will end`
  return [
    `paused ${what}: ${countNoun(total, 'open run')} ${total === 1 ? 'stays where it is' : 'stay where they are'}, ${ending}`,
  ]
}

const columns = (now: number): readonly TableColumn<PauseView>[] => [
  { title: 'PAUSED', cell: describePaused },
  { title: 'BY', cell: ({ by }) => describeApprover(by), plain: ({ by }) => by },
  { title: 'WHY', cell: ({ reason }) => reason ?? '-' },
  timeColumn('SINCE', ({ at }) => at, now),
]

const listPauses = listCommand('GET /pauses', { columns, nothing: 'Nothing is paused.' })
