import { digestOfJson } from '../../base/digest.ts'
import { fail } from '../../base/failure.ts'
import type { TaskId, WorkspaceId } from '../../base/ids.ts'
import type { FileItem, MessageAccepted, MessageBody } from '../../spec/api.ts'
import type { Principal } from '../../spec/people/key.ts'
import type { DecisionOrigin } from '../../spec/people/decision-proof.ts'
import type { GivenAnswer } from '../../spec/task.ts'
import { describeAnswer, recordRefusedAnswer } from '../acts/act-subjects.ts'
import { originOf, seesTimeline, withCaller, type IdentifyCaller } from '../auth/auth.ts'
import { apiBodyLimits, readJson } from '../http/body.ts'
import { acceptedReply } from '../http/reply.ts'
import { type RouteHandler, readPathParam } from '../http/route.ts'
import { waitAsPreferred, whileStoreAnswers } from './prefer-wait.ts'
import { runInScope } from '../auth/scope.ts'
import type { ServerServices } from '../runtime/services.ts'
import { siteOf } from '../auth/passkey-site.ts'
import { taskAddress } from '../../view/console-address.ts'
import { readPending } from '../view/pending.ts'
import { parseIdempotencyKey, parseMessage } from '../http/validate.ts'

/** POST /v1/runs/{runId}/input and /messages: one behaviour on two paths. A refused message is answered 202 with `error` and changes nothing. */
export const sendMessage = (services: ServerServices, identify: IdentifyCaller): RouteHandler =>
  withCaller(services, identify, async (call, caller) => {
    const { principal, act } = caller
    const run = await runInScope(services, principal, readPathParam(call, 'runId'))
    const key = parseIdempotencyKey(call.request.headers)
    const given = await readJson(call, apiBodyLimits(services.config))
    const body = parseMessage(given, run.id)
    await checkMessageFiles(services, principal.workspaceId, body.files ?? [])
    const isHidden = !seesTimeline(principal)
    const idempotency = key === undefined ? undefined : { key, bodyDigest: digestOfJson(given) }
    const about = describeAnswer(run, body)
    const answered = await services.engine.answer(
      run.id,
      toAnswer(body, principal, originOf(principal, caller)),
      isHidden,
      idempotency,
      act?.('run.answered', about),
    )
    const accepted = await recordRefusedAnswer(services, act, about, nameConsole(services, answered))
    // A refused message changed nothing, so there is nothing to wait for.
    const waited = accepted.error === undefined ? await waitAsPreferred(services, call, caller, run) : undefined
    const later = waited?.run
    // A message refused before it reached the run has changed nothing.
    const pending =
      (!later && accepted.pending) ||
      (await whileStoreAnswers(() => readPending(services.store, later ?? run, isHidden)))
    return {
      ...acceptedReply({ ...accepted, status: later?.status ?? accepted.status, ...(pending && { pending }) }),
      headers: waited?.headers ?? {},
    }
  })

/** Where a channel cannot prove what a policy asks for, the console may: its address, for people. */
export function nameConsole(services: ServerServices, accepted: MessageAccepted): MessageAccepted {
  const { code, error, userTaskId } = accepted
  if (code !== 'proof_required' || services.serverState.consoleUrl === null || userTaskId === undefined) return accepted
  return {
    ...accepted,
    error: `${error} Approve it in the console: ${taskAddress(siteOf(services).origin, userTaskId)}`,
  }
}

/** The body as the engine takes it: `text` wins over `message`. */
export const toAnswer = (body: MessageBody, by: Principal, origin: DecisionOrigin): GivenAnswer => ({
  by,
  origin,
  ...defined({
    taskId: body.userTaskId as TaskId | undefined,
    approved: body.approved,
    selectedOptionId: body.selectedOptionId,
    textValue: body.textValue,
    numberValue: body.numberValue,
    metadata: body.metadata,
    steer: body.steer,
    text: body.text || body.message || undefined,
    files: body.files?.length ? body.files : undefined,
    claimedEmail: body.completedByEmail,
  }),
})

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

/** Removes properties that are undefined. */
const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>

/** @throws Failure `file_not_found` for a file that is not finalized in the workspace */
export async function checkMessageFiles(
  { store }: ServerServices,
  workspaceId: WorkspaceId,
  files: readonly FileItem[],
): Promise<void> {
  for (const [index, { objectKey }] of files.entries()) {
    const file = await store.fileByKey(workspaceId, objectKey)
    if (file?.finalizedAt == null)
      throw fail(
        'file_not_found',
        { filename: objectKey.slice(objectKey.lastIndexOf('/') + 1) },
        { details: [{ path: `/files/${index}/objectKey`, message: 'names no finalized file' }] },
      )
  }
}
