import { safeText } from '../../../base/escape-text.ts'
import { fail } from '../../../base/failure.ts'
import { parseJson, type JsonValue } from '../../../base/json/json.ts'
import { shortId } from '../../../base/short-text.ts'
import type { OperatorRoutes } from '../../../spec/operator/routes.ts'
import type { DryForkView } from '../../../spec/operator/dry-fork.ts'
import { describeDryDifference, describeDryFork } from '../../../spec/view/dry-fork-words.ts'
import type { dryForksAnswer, runsAnswer } from '../../answers/drive.ts'
import type { AnswerOf } from '../../answers/schema.ts'
import { withOperator, type OperatorClient } from '../../project/server/operator.ts'
import { openProject } from '../../project/project.ts'
import { resolveAgent, runIdOf } from '../../project/reference.ts'
import type { CommandContext } from '../../shell/command.ts'
import { wholeNumber } from '../../shell/numbers.ts'
import { RemoteError } from '../../shell/remote.ts'
import { usageFailure } from '../../shell/usage-failure.ts'

type ForkAnswer = AnswerOf<typeof runsAnswer> | AnswerOf<typeof dryForksAnswer>

export async function runsFork(call: CommandContext<ForkAnswer>): Promise<void> {
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
  await withOperator(await openProject(call), call, async (operator) => {
    const runs = agent === undefined ? await runIdsOf(named, operator) : await newestOf(operator, agent)
    const body = {
      runs,
      at,
      edits,
      ...(version !== undefined && { version }),
      ...(given.flag('allow-widen') && { allowWiden: true }),
      ...(given.flag('allow-yanked') && { allowYanked: true }),
    }
    if (isDry) {
      const tried =
        agent === undefined
          ? await operator.call('POST /runs/dry-fork', { body })
          : await tryEach(operator, body, out.message)
      if (mode.json) return await out.json(tried)
      for (const each of tried.items) for (const line of linesOf(each)) out.line(line)
      return out.line(summaryOf(tried))
    }
    const started = await operator.call('POST /runs/fork', {
      body: { ...body, ...(idempotencyKey !== undefined && { idempotencyKey }) },
    })
    if (mode.json) return await out.json(started)
    for (const { runId, forkOf = '', forkStep, agent, versionLabel, status } of started.items)
      out.line(
        safeText(
          `${shortId(runId)} goes on from step ${forkStep} of ${shortId(forkOf)}: ${agent}@${versionLabel} is ${status}`,
        ),
      )
  })
}

async function runIdsOf(texts: readonly string[], operator: OperatorClient): Promise<readonly string[]> {
  const ids: string[] = []
  for (const text of texts) ids.push(await runIdOf(text, operator))
  return ids
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

type DryForks = OperatorRoutes['POST /runs/dry-fork']['answer']

/** Tries each run separately: one that cannot be forked at this step is reported and skipped. */
async function tryEach(
  operator: OperatorClient,
  { runs, ...body }: OperatorRoutes['POST /runs/dry-fork']['body'],
  tell: (line: string) => void,
): Promise<DryForks> {
  const items: DryForkView[] = []
  for (const run of runs) {
    try {
      items.push(...(await operator.call('POST /runs/dry-fork', { body: { ...body, runs: [run] } })).items)
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error
      tell(`${shortId(run)} is left out: ${error.message}`)
    }
  }
  return { items, total: items.length, differing: items.filter(({ differs }) => differs).length }
}

function parseEdit(text: string): { step: number; value: JsonValue } {
  const match = /^(\d+)(:?=)(.*)$/s.exec(text)
  if (!match)
    throw fail(
      'usage',
      { what: `"${text}" is no edit.` },
      { fix: 'Write 3=text, or 5:=json for the result of a call.' },
    )
  const [, step, operator, given] = match as unknown as [string, string, string, string]
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
