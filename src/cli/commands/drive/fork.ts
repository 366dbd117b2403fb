import { safeText } from '../../../base/text/escape-text.ts'
import { fail } from '../../../base/failure.ts'
import { parseJson, type JsonValue } from '../../../base/json/json.ts'
import { shortId } from '../../../base/text/short-text.ts'
import type { OperatorRoutes } from '../../../operations/operations.ts'
import type { DryForkView } from '../../../operations/steering.ts'
import { describeDryDifference, describeDryFork } from '../../../view/dry-fork-words.ts'
import type { dryForksAnswer, steeredRuns } from '../../answers/drive.ts'
import type { ValueOf } from '../../../operations/schema.ts'
import type { OperatorClient } from '../../../client/operator.ts'
import { withOperator } from '../../project/server/operator.ts'
import { resolveAgent, runIdsOf } from '../../project/reference.ts'
import { actOnEach, collectEach } from '../../shell/act-on-each.ts'
import type { CommandContext } from '../../shell/command.ts'
import { describeCommandError } from '../../shell/exit.ts'
import { RemoteError } from '../../../client/remote-error.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { usageFailure } from '../../../base/usage-failure.ts'
import { expectDefined } from '../../../base/values/expect-defined.ts'

type ForkAnswer = ValueOf<typeof steeredRuns> | ValueOf<typeof dryForksAnswer>

export async function runsFork(call: CommandContext<ForkAnswer>): Promise<number> {
  const { given, mode, out } = call
  const at = wholeNumber(given.text('at'), 'at')
  if (at === undefined || at < 1)
    throw fail('usage', { what: '--at names the last step to take over; svc runs steps RUN lists them.' })
  const version = given.text('version')
  const idempotencyKey = given.text('idempotency-key')
  const edits = given.list('edit').map(parseEdit)
  const [agent, isDry] = [given.text('agent'), given.flag('dry')]
  const named = given.rest(0)
  if ((agent === undefined) === (named.length === 0))
    throw usageFailure('Name runs, or with --dry the newest of one agent with --agent.')
  if (agent !== undefined && !isDry) throw usageFailure('--agent is for --dry: name the runs that are forked for good.')
  return await withOperator(call, async (operator) => {
    const runs = agent === undefined ? await runIdsOf(named, operator) : await newestOf(operator, agent)
    const body = {
      at,
      edits,
      ...(version !== undefined && { version }),
      ...(given.flag('allow-widen') && { allowWiden: true }),
      ...(given.flag('allow-yanked') && { allowYanked: true }),
    }
    if (isDry) return await tryEach(call, operator, runs, body)
    return await actOnEach(
      call,
      runs,
      async (id) => {
        const forked = { ...body, runs: [id], ...(idempotencyKey !== undefined && { idempotencyKey }) }
        const { items } = await operator.call('POST /runs/fork', { body: forked })
        const run = expectDefined(items[0], 'one run was named')
        const { agent, versionLabel, status, forkStep } = run
        const words = `continues from step ${forkStep} of ${shortId(id)}: ${agent}@${versionLabel} is ${status}`
        if (!mode.json) out.line(safeText(`${shortId(run.runId)} ${words}`))
        return run
      },
      (runId, error) => ({ runId, error }),
    )
  })
}

/** Runs that one dry fork takes at most. */
const MOST = 50

/** The newest runs of an agent that have ended. */
async function newestOf(operator: OperatorClient, agent: string): Promise<readonly string[]> {
  const { agentId } = await resolveAgent(agent, operator)
  const query = { agent: agentId, status: 'Completed,Failed,Cancelled', roots: 'true', take: String(MOST) } as const
  const { items } = await operator.call('GET /runs', { query })
  if (items.length === 0) throw fail('not_found', { what: `ended run of ${agent}` })
  return items.map(({ runId }) => runId)
}

/** Tries each run separately: one that cannot be forked at this step is refused; with `--agent`, which names none, it is left out. */
async function tryEach(
  call: CommandContext<ForkAnswer>,
  operator: OperatorClient,
  runs: readonly string[],
  body: Omit<OperatorRoutes['POST /runs/dry-fork']['body'], 'runs'>,
): Promise<number> {
  const { given, mode, out } = call
  const tried: DryForkView[] = []
  const toAnswer = (items: ValueOf<typeof dryForksAnswer>['items']) => ({
    items,
    total: items.length,
    differing: tried.filter(({ differs }) => differs).length,
  })
  const print = async (items: ValueOf<typeof dryForksAnswer>['items']): Promise<void> => {
    if (mode.json) await out.json(toAnswer(items))
  }
  const tryOne = async (id: string): Promise<ValueOf<typeof dryForksAnswer>['items'][number]> => {
    const { items } = await operator.call('POST /runs/dry-fork', { body: { ...body, runs: [id] } })
    const fork = expectDefined(items[0], 'one run was named')
    tried.push(fork)
    if (!mode.json) for (const line of linesOf(fork)) out.line(line)
    return fork
  }
  const tryOrLeaveOut = async (id: string): ReturnType<typeof tryOne> => {
    try {
      return await tryOne(id)
    } catch (error) {
      const words = error instanceof RemoteError ? describeCommandError(error) : undefined
      if (!words) throw error
      const { exit: _exit, ...refusal } = words
      out.message(`${shortId(id)} is left out: ${words.message}`)
      return { runId: id, error: refusal }
    }
  }
  const { items, exit } = await collectEach(
    call,
    runs,
    given.text('agent') === undefined ? tryOne : tryOrLeaveOut,
    (runId, error) => ({ runId, error }),
    print,
  )
  await print(items)
  if (!mode.json) out.line(summaryOf({ total: tried.length, differing: toAnswer(items).differing }))
  return exit
}

function parseEdit(text: string): { step: number; value: JsonValue } {
  const match = /^(\d+)(:?=)(.*)$/s.exec(text)
  if (!match)
    throw fail(
      'usage',
      { what: `"${text}" is no edit.` },
      { fix: 'Write 3=text, or 5:=json for the result of a call.' },
    )
  const [, step, operator, given = ''] = match
  if (operator === '=') return { step: Number(step), value: given }
  try {
    return { step: Number(step), value: parseJson(given) }
  } catch (error) {
    throw fail('usage', { what: `The value of step ${step} is not JSON: ${(error as Error).message}.` })
  }
}

const linesOf = (fork: DryForkView): string[] => [
  `${shortId(fork.runId)} ${describeDryFork(fork)}`,
  ...fork.differences.map((each) => `  ${describeDryDifference(each)}`),
]

function summaryOf({ total, differing }: { readonly total: number; readonly differing: number }): string {
  const runs = total === 1 ? '1 run' : `${total} runs`
  return differing === 0 ? `${runs}: nothing would differ` : `${runs}: ${differing} would differ`
}
