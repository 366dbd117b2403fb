/**
 * The page behind a one-time link. Reading it changes nothing, however often a scanner does; only the page's own form decides, with a
 * seal that only the page carries. Source: docs/design/notifications.md#links-that-decide
 */
import { textBefore } from '../../base/text/text-parts.ts'
import type { TaskId } from '../../base/ids.ts'
import { DECISION_PATH, taskAddress } from '../../view/console-address.ts'
import { readBytes } from '../http/body.ts'
import { clientAddress } from '../http/ip.ts'
import type { HttpReply } from '../http/reply.ts'
import { readPathParam, type ApiRoute, type HttpRequestContext } from '../http/route.ts'
import { isSameText, openDecisionLink, type OpenedLink } from '../operator/people/decision-link.ts'
import { createNoticeDesk } from '../operator/people/notice-desk.ts'
import type { ServerServices } from '../runtime/services.ts'
import { DECISION_HEADERS, drawDecision, drawDecisionWords, MOST_OF_COMMENT } from './draw-decision.ts'

/** A comment of the most characters, each percent-encoded. */
const MOST_BYTES = 64 * 1024

export function listDecisionRoutes(services: ServerServices): readonly ApiRoute[] {
  const path = `${DECISION_PATH}:secret`
  return [
    { method: 'GET', path, handle: (call) => showDecision(services, call) },
    { method: 'POST', path, handle: (call) => takeDecision(services, call) },
  ]
}

async function showDecision(services: ServerServices, call: HttpRequestContext): Promise<HttpReply> {
  const link = await openDecisionLink(services, createNoticeDesk(services), readPathParam(call, 'secret'))
  return link.at === 'open' ? reply(200, drawPage(services, link)) : close(services, link)
}

async function takeDecision(services: ServerServices, call: HttpRequestContext): Promise<HttpReply> {
  const desk = createNoticeDesk(services)
  const form = await readForm(call)
  const link = await openDecisionLink(services, desk, readPathParam(call, 'secret'))
  if (link.at === 'closed') return close(services, link)
  const again = (status: number, problem: string) => reply(status, drawPage(services, link, problem))
  if (!form) return again(400, 'Nothing was decided: the form was not sent as this page sends it.')
  if (!isSameText(form.get('seal') ?? '', link.seal))
    return again(409, 'Nothing was decided: this was not sent by the page below. Read it, then decide.')
  const decision = form.get('decision')
  if (decision !== 'approve' && decision !== 'reject') return again(400, 'Nothing was decided: choose one of the two.')
  const comment = (form.get('comment') ?? '').trim()
  if (comment.length > MOST_OF_COMMENT)
    return again(400, `Nothing was decided: a comment has at most ${MOST_OF_COMMENT} characters.`)
  const { task, email, credentials, seen, useUp } = link
  const taskId = task.id as TaskId
  const approved = decision === 'approve'
  const forwarded = call.request.headers.get('x-forwarded-for')
  const words = await desk.decide({
    taskId,
    seen,
    approved,
    ...(comment !== '' && { comment }),
    email,
    credentials,
    channel: 'email',
    address: clientAddress(call.peer, forwarded, services.config.network?.proxies ?? []) ?? null,
    useUp,
  })
  if (words !== undefined)
    return close(services, { at: 'closed', title: 'Nothing was decided', why: afterPrefix(words), taskId })
  return reply(
    200,
    drawDecisionWords({
      title: approved ? 'Approved' : 'Rejected',
      text: `You decided as ${email}. The link decides nothing more.`,
      isGood: true,
      ...linkTo(services, taskId),
    }),
  )
}

const drawPage = (
  services: ServerServices,
  { task, email, expiresAt, seal }: Extract<OpenedLink, { at: 'open' }>,
  problem?: string,
): string =>
  drawDecision({
    task,
    email,
    expiresAt,
    seal,
    now: services.clock.now(),
    workspace: services.workspace.name,
    ...(problem !== undefined && { problem }),
    ...linkTo(services, task.id as TaskId),
  })

const close = (services: ServerServices, { title, why, taskId }: Extract<OpenedLink, { at: 'closed' }>): HttpReply =>
  reply(taskId === undefined ? 404 : 409, drawDecisionWords({ title, text: why, ...linkTo(services, taskId) }))

const linkTo = ({ serverState: { consoleUrl } }: ServerServices, taskId: TaskId | undefined): { link?: string } =>
  consoleUrl === null || taskId === undefined ? {} : { link: taskAddress(consoleUrl, taskId) }

const afterPrefix = (words: string): string =>
  words.replace(/^Nothing was decided: /, '').replace(/^./, (first) => first.toUpperCase())

async function readForm(call: HttpRequestContext): Promise<URLSearchParams | undefined> {
  const bytes = await readBytes(call, MOST_BYTES)
  const type = textBefore(call.request.headers.get('content-type') ?? '', ';')
    .trim()
    .toLowerCase()
  return type === 'application/x-www-form-urlencoded'
    ? new URLSearchParams(Buffer.from(bytes).toString('utf8'))
    : undefined
}

const reply = (status: number, text: string): HttpReply => ({ status, text, headers: DECISION_HEADERS })
