/**
 * Finds tasks and sends answers for `approve`, `reject` and `answer`: through the operator application, or through the API
 * where a key was given. Source: docs/design/command-line.md#planes
 */
import { fail } from '../../base/failure.ts'
import { pendingTasks, toAnswerBody, type SvcClient, type TaskDecision } from '../../client/index.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import type { ProbeView } from '../../operations/tasks.ts'
import type { ShownTask } from '../../spec/task.ts'
import { readClientTask } from '../../view/task/task-content.ts'
import { safeJson, safeText } from '../../base/text/escape-text.ts'
import { shortId } from '../../base/text/short-text.ts'
import type { CommandContext } from '../shell/command.ts'
import { exitOfCode } from '../shell/exit.ts'
import type { OperatorClient } from '../../client/operator.ts'
import { runIdOf, taskOf } from '../project/reference.ts'
import { RefusedAnswer } from '../../client/remote-error.ts'
import { withTarget } from '../project/server/target.ts'
import { onlyMatch } from '../project/only-match.ts'

export interface AnswerReceipt {
  readonly userTaskId: string
  readonly status: string
  readonly approvals: { readonly have: number; readonly need: number }
  readonly runStatus: string
}

/** How to report an answer. */
export interface AnswerReport {
  /** This person gave this answer before; nothing changed. */
  readonly again: boolean
  /** False where no server runs: the answer is stored, and the run continues when one starts. */
  readonly served: boolean
}

export interface TaskChannel {
  find(text: string): Promise<ShownTask>
  /**
   * Sends one answer with the digest of the reviewed arguments, so that it cannot approve changed ones.
   * @throws RefusedAnswer
   */
  answer(task: ShownTask, decision: TaskDecision): Promise<{ receipt: AnswerReceipt; report: AnswerReport }>
  /** Runs the probe of an `anomaly_review`: whether its call happened. @throws Failure `usage` with an API key */
  probe(task: ShownTask): Promise<ProbeView>
}

export async function withTaskChannel<T>(call: CommandContext, work: (channel: TaskChannel) => Promise<T>): Promise<T> {
  const { given } = call
  return await withTarget(call, async (target) => {
    if (target.operator) return await work(operatorChannel(target.operator, given.text('as')))
    const run = given.text('run')
    if (run === undefined)
      throw fail('usage', { what: 'With an API key a task is found in its run.' }, { fix: '--run RUN' })
    if (given.text('as') !== undefined)
      throw fail('usage', { what: '--as is for operators; with an API key the key is the approver.' })
    return await work(apiChannel(target.client, await runIdOf(run, undefined)))
  })
}

function operatorChannel(operator: OperatorClient, as: string | undefined): TaskChannel {
  return {
    find: (text) => taskOf(text, operator),
    probe: ({ id }) => operator.call('POST /tasks/:id/probe', { id, body: undefined }),
    async answer({ id, runId, argumentsDigest }, decision) {
      const body = { ...toAnswerBody({ id, argumentsDigest }, decision), ...(as !== undefined && { as }) }
      const { status: runStatus, duplicate } = accepted(
        await operator.call('POST /runs/:id/messages', { id: runId, body }),
      )
      const { status, approvals } = await operator.call('GET /tasks/:id', { id })
      return {
        receipt: {
          userTaskId: id,
          status,
          approvals: { have: approvals.have, need: approvals.need },
          runStatus,
        },
        report: { again: duplicate === true, served: operator.isServed },
      }
    },
  }
}

function apiChannel(client: SvcClient, runId: string): TaskChannel {
  return {
    async find(text) {
      const pending = await pendingTasks(client, runId)
      const found =
        text === '@waiting' ? pending : pending.filter(({ userTaskId }) => userTaskId.endsWith(text.toLowerCase()))
      const missing = () => fail('task_not_found')
      const task = onlyMatch(found, text, missing, ({ userTaskId, kind }) => `${userTaskId} (${kind})`)
      return readClientTask(task, '')
    },
    probe() {
      throw fail(
        'usage',
        { what: 'Only an operator can probe whether a call happened.' },
        { fix: 'svc inbox --operator' },
      )
    },
    async answer(task, decision) {
      const { status: runStatus, duplicate } = accepted(
        await client.sendRunMessage(runId, toAnswerBody(task, decision)),
      )
      const { items } = await client.getConversation(runId)
      const now = items
        .filter((each) => each.type === 'UserTaskReq')
        .find(({ content }) => content?.user_task_id === task.id)?.content
      return {
        receipt: {
          userTaskId: task.id,
          status: now?.status ?? 'completed',
          approvals: { have: now?.approvals_received ?? 0, need: task.approvalsRequired ?? 1 },
          runStatus,
        },
        report: { again: duplicate === true, served: true },
      }
    },
  }
}

function accepted(answer: MessageAccepted): MessageAccepted {
  if (answer.error === undefined) return answer
  throw new RefusedAnswer(answer, exitOfCode(answer.code), FIXES[answer.code ?? ''])
}

const FIXES: Readonly<Record<string, string>> = {
  acknowledgement_required: '--ack says that the arguments were read and understood.',
  arguments_changed: 'svc inbox     look again, then answer',
  digest_required: 'svc inbox     look again, then answer with --args-digest',
  proof_required: 'svc console    opens the console, where a passkey approves',
  not_an_approver:
    'SVC_OPERATOR_KEY or --operator-key-file says who you are; svc keys create --operator --email EMAIL --role ROLE makes one.',
}

/** The end of a confirmation: what the run does next. */
export const nextOf = ({ runId }: Pick<ShownTask, 'runId'>, { served }: AnswerReport, then = 'continues'): string =>
  served ? `run ${shortId(runId)} ${then}` : `run ${shortId(runId)} continues when a server runs: svc dev or svc serve`

/** Result of a probe: the call in one line, the result in the next. */
export const drawProbe = ({ name, arguments: given, result, isError }: ProbeView): [string, string] => [
  safeText(`${name} ${JSON.stringify(given)}`),
  `${isError ? 'failed: ' : ''}${safeJson(result)}`,
]
