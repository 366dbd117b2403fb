/**
 * Links with which one person decides one task once: a secret of 256 bits, of which only digests are kept. A link is good for what its
 * mail showed, until it expires. Source: docs/design/notifications.md#links-that-decide
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { hashKey } from '../../../base/api-key.ts'
import type { Instant } from '../../../base/clock.ts'
import { foldIdentity } from '../../../base/identity.ts'
import type { TaskId } from '../../../base/ids.ts'
import type { OperatorKey } from '../../../spec/people/key.ts'
import { hasNeededRoles } from '../../../spec/people/approver-role.ts'
import { decisionAddress } from '../../../view/console-address.ts'
import type { DecisionLink, DeskTask, NoticeDesk } from '../../notify/channel.ts'
import { writeChatCard } from '../../notify/chat/chat-card.ts'
import { findElsewhereReason, seenOf } from '../../notify/chat/decide-in-chat.ts'
import type { ServerServices } from '../../runtime/services.ts'
import { describeEnd } from './decide-from-outside.ts'
import { EXPIRED_KEPT_MS } from './passkeys.ts'

/** Makes a link; of the secret only digests stay here. */
export async function createDecisionLink(
  { store, clock, workspace, serverState }: ServerServices,
  task: DeskTask,
  email: string,
  withinMs: number,
): Promise<DecisionLink | undefined> {
  if (serverState.consoleUrl === null) return undefined
  const secret = randomBytes(32).toString('base64url')
  const createdAt = clock.now()
  const expiresAt = Math.min(createdAt + withinMs, task.expiresAt ?? Infinity)
  await store.putOneTimeToken(
    {
      hash: hashKey(secret),
      workspaceId: workspace.id,
      purpose: 'decide',
      operator: foldIdentity(email),
      subject: `${task.id} ${sealOf(secret, 'mail', seenOf(task))}`,
      createdAt,
      expiresAt,
      usedAt: null,
    },
    createdAt - EXPIRED_KEPT_MS,
  )
  return { url: decisionAddress(serverState.consoleUrl, secret), expiresAt }
}

/** What a link is good for now. */
export type OpenedLink =
  | { readonly at: 'closed'; readonly title: string; readonly why: string; readonly taskId?: TaskId }
  | {
      readonly at: 'open'
      readonly task: DeskTask
      readonly email: string
      readonly credentials: readonly OperatorKey[]
      readonly expiresAt: Instant
      /** Digest of what the page shows. */
      readonly seen: string
      /** What a request has to repeat that was made with the page. */
      readonly seal: string
      /** @returns false where it was used meanwhile */
      readonly useUp: () => Promise<boolean>
    }

/** Reads what a link is good for, and uses nothing up. */
export async function openDecisionLink(
  { store, clock, workspace }: ServerServices,
  desk: NoticeDesk,
  secret: string,
): Promise<OpenedLink> {
  const token = SECRET.test(secret) ? await store.oneTimeToken(hashKey(secret)) : undefined
  if (token?.workspaceId !== workspace.id || token.purpose !== 'decide') return UNKNOWN
  const [id = '', mailSeal = ''] = token.subject?.split(' ') ?? []
  const taskId = id as TaskId
  const task = await desk.readTask(taskId)
  if (!task) return { at: 'closed', title: 'The task was deleted', why: 'Nothing is left to decide.' }
  const close = (title: string, why: string): OpenedLink => ({ at: 'closed', title, why, taskId })
  if (task.status !== 'pending') return close('This task is decided', sentence(describeEnd(task)))
  if (token.usedAt !== null)
    return close('This link was used', 'A link decides once, and the task still waits. Decide in the console.')
  if (token.expiresAt <= clock.now())
    return close('This link is too old', 'It was good for a short time only. Decide in the console.')
  const credentials = (await desk.listPeople()).filter(({ email }) => foldIdentity(email) === token.operator)
  const roles = credentials.flatMap((each) => each.roles)
  if (credentials.length === 0)
    return close('You cannot decide here', `No credential of ${token.operator} is valid any more.`)
  if (!hasNeededRoles(roles, task.approverRole))
    return close('You cannot decide here', `It needs the role ${task.approverRole}, which ${token.operator} has not.`)
  const reason = findElsewhereReason(task, writeChatCard(task, true))
  if (reason !== undefined) return close('Decide in the console', sentence(`${reason}.`))
  const seen = seenOf(task)
  if (!isSameText(sealOf(secret, 'mail', seen), mailSeal))
    return close('The task changed', 'It is not any more what your mail showed. Decide in the console.')
  return {
    at: 'open',
    task,
    email: token.operator,
    credentials,
    expiresAt: token.expiresAt,
    seen,
    seal: sealOf(secret, 'page', seen),
    useUp: () => store.useOneTimeToken(token.hash, clock.now()),
  }
}

const UNKNOWN: OpenedLink = {
  at: 'closed',
  title: 'This link is not known',
  why: 'It was never a link of this server, or it is older than a week. Copy it whole from the mail, or decide in the console.',
}

const SECRET = /^[A-Za-z0-9_-]{43}$/

/** Binds what was shown to the secret, which alone can make it: no digest of content lies in the store. */
const sealOf = (secret: string, shownIn: 'mail' | 'page', seen: string): string =>
  createHmac('sha256', secret).update(`svc.link.v1 ${shownIn} ${seen}`).digest('base64url')

export function isSameText(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const sentence = (text: string): string => text.replace(/^./, (first) => first.toUpperCase())
