/** What a person may do about a task, and how the answer is sent. */
import { safeJson } from '../../base/text/escape-text.ts'
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '../../base/json/json.ts'
import { toAnswerBody, type TaskDecision } from '../../client/index.ts'
import type { MessageAccepted } from '../../spec/api.ts'
import { describeTaskView, VIEW_DIGEST } from '../../view/task/task-view.ts'
import { isProofAtLeast } from '../../spec/people/decision-proof.ts'
import type { ShownTask } from '../../spec/task.ts'
import type { UnreadValues } from '../../view/task/card-reading.ts'
import { loadCeremonies } from '../passkey/load-ceremonies.ts'
import { digestInBrowser } from '../wire/digest.ts'
import { callOperator } from '../wire/request.ts'

export interface ShownDigest {
  /** Of what is shown; it goes with the decision. */
  readonly view: string
  /** False where the arguments that were sent are not those that their digest names. */
  readonly isIntact: boolean
}

/** Computes the digests of what is shown, from what is shown. */
export async function digestOfShown(task: ShownTask): Promise<ShownDigest> {
  const { arguments: args, argumentsDigest } = task
  // Arguments that were erased keep their digest.
  const isIntact =
    argumentsDigest === undefined || (args !== undefined && (await digestInBrowser(args)) === argumentsDigest)
  return { view: await digestInBrowser(describeTaskView(task)), isIntact }
}

/** Sends a decision about what was shown: the server refuses it where the task is something else now. */
export async function sendDecision(
  task: ShownTask,
  digest: ShownDigest,
  decision: TaskDecision,
): Promise<MessageAccepted> {
  const metadata = { ...decision.metadata, [VIEW_DIGEST]: digest.view }
  const body = toAnswerBody({ id: task.id, argumentsDigest: task.argumentsDigest }, { ...decision, metadata })
  const isSigned = decision.approved !== false && needsPasskey(task)
  const signed = isSigned && (await (await loadCeremonies()).signApproval(task, digest.view, body))
  return callOperator('POST /runs/:id/messages', {
    id: task.runId,
    body: signed ? { ...body, passkey: { ...signed } } : body,
  })
}

/** True where an approval takes more than the page can show by itself. */
export const needsPasskey = ({ approvalProof = 'none' }: ShownTask): boolean => !isProofAtLeast('key', approvalProof)

export interface ArgumentChange {
  readonly name: string
  readonly before?: string
  readonly after?: string
}

/** The arguments that differ, with both values as JSON. */
export function listChanges(before: JsonValue | undefined, after: JsonObject): readonly ArgumentChange[] {
  const old = isJsonObject(before) ? before : {}
  const names = [...new Set([...Object.keys(old), ...Object.keys(after)])]
  return names.flatMap((name) => {
    const [was, is] = [old[name], after[name]]
    if (was !== undefined && is !== undefined && canonicalJson(was) === canonicalJson(is)) return []
    return [
      {
        name,
        ...(was !== undefined && { before: safeJson(was) }),
        ...(is !== undefined && { after: safeJson(is) }),
      },
    ]
  })
}

export const mayDecide = ({ people, status }: ShownTask): boolean =>
  status === 'pending' && people?.decided === undefined && (people?.standing ?? 'may_answer') === 'may_answer'

/** Who has voted may still change the arguments, which voids all votes. */
export const mayEdit = (task: ShownTask): boolean =>
  task.kind === 'approval' &&
  task.onModify !== 'reject' &&
  (mayDecide(task) || (task.status === 'pending' && task.people?.standing === 'voted'))

export interface DecidePanelProps {
  readonly task: ShownTask
  readonly unread: UnreadValues
  /** Why nothing can be approved now; undefined where it can. */
  readonly blocked: string | undefined
  readonly isSending: boolean
  readonly onDecide: (decision: TaskDecision) => void
  readonly onLater: () => void
}
