/**
 * Approvals in Slack: one message for each task, which is drawn anew when the task changes, and one list where many wait. A message is a
 * view of tasks as they are now, whatever notice it is sent for. Source: docs/design/notifications.md#slack
 */
import type { ChannelConfig } from '../../../spec/project/config.ts'
import type { StoredNotice } from '../../../spec/notice.ts'
import type { ShownTask } from '../../../spec/task.ts'
import type { TaskId } from '../../../base/ids.ts'
import { describeTaskInChat, writeChatCard } from '../chat/chat-card.ts'
import { findElsewhereReason, writeDrawnTask } from '../chat/decide-in-chat.ts'
import {
  failedTry,
  type ChannelParts,
  type DeskTask,
  type NoticeChannel,
  type NoticeMessage,
  type TryOutcome,
} from '../channel.ts'
import { NOTICE_TITLES } from '../mail-text.ts'
import { checkSlackScopes } from './check-scopes.ts'
import { createSlackApi, isGone, SlackFault, type SlackApi } from './slack-api.ts'
import { receiveSlackClicks } from './receive-click.ts'
import { createSlackPeople, type SlackPeople } from './slack-people.ts'
import {
  drawList,
  drawNotice,
  drawReply,
  drawTask,
  isSameDrawing,
  textIn,
  titleOfNotice,
  type SlackDrawing,
} from './draw-blocks.ts'
import { keyOfRef, readRefs, refsOfTask, toReceipt, type SlackRef } from './slack-refs.ts'

/** Notices of one try. More than these have to wait for the limits of Slack anyway. */
const MOST_AT_ONCE = 20
/** New messages of one try: more are one list. */
const MOST_SINGLE = 5
/** Until a notice is looked at again whose message may be on its way. */
const LATER_MS = 5000
/** How often a message is drawn again because its task changed while it was sent. */
const MOST_REDRAWN = 3

export function openSlackChannel(config: ChannelConfig, parts: ChannelParts): NoticeChannel {
  const api = createSlackApi(config.slack!, parts)
  const people = createSlackPeople(api, parts)
  return {
    mostAtOnce: MOST_AT_ONCE,
    send: (messages, signal) => createSending(config, parts, api, people, signal).send(messages),
    ...(config.slack!.signing_secret && {
      receive: receiveSlackClicks(config, parts, api, people, (task, signal) =>
        createSending(config, parts, api, people, signal).redrawTask(task),
      ),
    }),
  }
}

/** The work of one try. */
function createSending(
  config: ChannelConfig,
  parts: ChannelParts,
  api: SlackApi,
  people: SlackPeople,
  signal: AbortSignal,
) {
  const { desk, name } = parts
  const { content: mayShow = false } = config
  const outcomes = new Map<NoticeMessage, TryOutcome>()
  const redrawn = new Set<string>()

  const draw = async (tasks: readonly TaskId[]): Promise<SlackDrawing | undefined> => {
    const shown = (await Promise.all(tasks.map((id) => desk.readTask(id)))).filter((each) => each !== undefined)
    const [only] = shown
    if (!only) return undefined
    return tasks.length === 1 ? drawOneTask(only, config, desk.linkOf(tasks[0]!)) : drawTasks(shown, mayShow, desk)
  }

  /** Draws a message as long as its tasks change while it is sent: of two processes, the slower one has the last word. */
  async function settle(ref: SlackRef, drawn: SlackDrawing | undefined): Promise<void> {
    let last = drawn
    for (let again = 0; again < MOST_REDRAWN; again++) {
      const now = await draw(ref.tasks)
      if (!now || (last && isSameDrawing(now, last))) return
      await api.call('chat.update', { channel: ref.channel, ts: ref.ts, ...fieldsOf(now) }, signal)
      last = now
    }
  }

  async function redraw(ref: SlackRef): Promise<void> {
    if (redrawn.has(keyOfRef(ref))) return
    try {
      await settle(ref, undefined)
    } catch (error) {
      // Nothing is left to change.
      if (!(error instanceof SlackFault && isGone(error))) throw error
    }
    redrawn.add(keyOfRef(ref))
  }

  async function reply({ channel, ts }: SlackRef, task: ShownTask): Promise<void> {
    const card = writeChatCard(task, mayShow)
    const drawing = drawReply(
      card,
      task.status === 'pending' ? `${NOTICE_TITLES['task.expiring']} · ${card.title}` : card.title,
    )
    await api.call('chat.postMessage', { channel, thread_ts: ts, ...fieldsOf(drawing), ...NO_UNFURLING }, signal)
  }

  /** What a notice about a task does to the messages that are there; undefined where it needs one of its own. */
  async function follow({ notice }: NoticeMessage): Promise<TryOutcome | undefined> {
    if (!isOfTask(notice)) return undefined
    const { event, taskId } = notice
    const told = await desk.noticesOf(taskId)
    const refs = refsOfTask(told, name, taskId)
    const task = await desk.readTask(taskId)
    if (!task) return { at: 'moot' }
    if (event === 'task.created') {
      if (refs.length === 0) return task.status === 'pending' ? undefined : { at: 'moot' }
      // The other people of a message that reached only some.
      if (config.slack!.role !== undefined && task.status === 'pending' && notice.attempts > 0) return undefined
      for (const ref of refs) await redraw(ref)
      return { at: 'delivered' }
    }
    if (refs.length === 0) {
      if (told.some((other) => isUnderWay(other, notice, parts))) return { at: 'later', afterMs: LATER_MS }
      return event === 'task.changed' ? { at: 'moot' } : undefined
    }
    for (const ref of refs)
      if (event === 'task.changed') await redraw(ref)
      else await reply(ref, task)
    return { at: 'delivered' }
  }

  async function findTargets(): Promise<readonly string[]> {
    const { channel, role } = config.slack!
    if (channel !== undefined) return [channel]
    const found = await people.findWithRole(role!, signal)
    if (found.length > 0) return found
    throw new SlackFault('nobody', {
      at: 'refused',
      why: `nobody with the role ${role} has a credential whose e-mail address Slack knows (svc keys create --operator --email YOU --role ${role})`,
    })
  }

  async function postTo(to: string, drawing: SlackDrawing): Promise<Pick<SlackRef, 'channel' | 'ts'> | undefined> {
    const fields = { channel: to, ...fieldsOf(drawing), ...NO_UNFURLING }
    const { body } = await api.call('chat.postMessage', fields, signal)
    const [channel, ts] = [textIn(body, 'channel'), textIn(body, 'ts')]
    return channel === undefined || ts === undefined ? undefined : { channel, ts }
  }

  /** Sends one message for some notices, to each target that has none yet. */
  async function post(group: readonly NoticeMessage[]): Promise<void> {
    const refs: SlackRef[] = group.flatMap(({ notice }) => [...readRefs(notice)])
    try {
      const tasks = [...new Set(group.flatMap(({ notice }) => (isOfTask(notice) ? [notice.taskId] : [])))]
      const isOfTasks = tasks.length > 0
      let missed: SlackFault | undefined
      const targets = await findTargets()
      for (const to of targets) {
        if (refs.some((ref) => ref.to === to)) continue
        const drawing = isOfTasks ? await draw(tasks) : drawNotices(group)
        if (!drawing) break
        const posted = await postTo(to, drawing).catch((error: unknown) => {
          // Whom Slack does not reach keeps it from nobody else.
          if (targets.length === 1 || !(error instanceof SlackFault && error.of === 'target')) throw error
          if (missed?.outcome.at !== 'failed') missed = error
        })
        if (!posted) continue
        const ref = { to, ...posted, tasks }
        refs.push(ref)
        if (isOfTasks) await settle(ref, drawing)
      }
      end(group, { ...(missed?.outcome ?? { at: 'delivered' }), receipt: toReceipt(refs) })
    } catch (error) {
      const outcome = toOutcome(error)
      end(group, refs.length === 0 ? outcome : { ...outcome, receipt: toReceipt(refs) })
      if (!(error instanceof SlackFault && error.of === 'message')) throw error
    }
  }

  const end = (group: readonly NoticeMessage[], outcome: TryOutcome): void =>
    group.forEach((message) => outcomes.set(message, outcome))

  async function sendAll(messages: readonly NoticeMessage[]): Promise<void> {
    const own: NoticeMessage[] = []
    for (const message of messages) {
      if (message.notice.event === 'notify.test') await checkSlackScopes(config.slack!, parts, api, signal)
      try {
        const outcome = await follow(message)
        if (outcome) outcomes.set(message, outcome)
        else own.push(message)
      } catch (error) {
        outcomes.set(message, toOutcome(error))
        if (!(error instanceof SlackFault && error.of === 'message')) throw error
      }
    }
    for (const kind of [own.filter(({ notice }) => isOfTask(notice)), own.filter(({ notice }) => !isOfTask(notice))])
      for (const group of kind.length > MOST_SINGLE ? [kind] : kind.map((message) => [message])) await post(group)
  }

  return {
    async redrawTask(task: TaskId): Promise<void> {
      for (const ref of refsOfTask(await desk.noticesOf(task), name, task)) await redraw(ref)
    },
    async send(messages: readonly NoticeMessage[]): Promise<readonly TryOutcome[]> {
      let rest: TryOutcome = failedTry('it was not sent')
      await sendAll(messages).catch((error: unknown) => {
        rest = toOutcome(error)
        // Those behind the one that Slack counted were not tried.
        if (error instanceof SlackFault && error.code === 'ratelimited' && outcomes.size > 0)
          rest = {
            at: 'later',
            afterMs: Math.min(
              MOST_PATIENCE_MS,
              error.outcome.at === 'failed' ? (error.outcome.retryAfterMs ?? LATER_MS) : LATER_MS,
            ),
          }
      })
      return messages.map((message) => outcomes.get(message) ?? rest)
    },
  }
}

const MOST_PATIENCE_MS = 3_600_000

/** Events of which the messages of a task tell. */
const FOLLOWING: ReadonlySet<string> = new Set(['task.created', 'task.expiring', 'task.decided', 'task.changed'])

const isOfTask = (notice: StoredNotice): notice is StoredNotice & { readonly taskId: TaskId } =>
  notice.taskId !== null && FOLLOWING.has(notice.event)

/** True for a notice that may be posting the message of the task just now. */
const isUnderWay = (other: StoredNotice, { id, channel }: StoredNotice, { clock }: ChannelParts): boolean =>
  other.id !== id &&
  other.channel === channel &&
  other.event === 'task.created' &&
  other.state === 'waiting' &&
  (other.claims > 0 || other.dueAt <= clock.now())

const toOutcome = (error: unknown): Extract<TryOutcome, { at: 'failed' | 'refused' }> =>
  error instanceof SlackFault
    ? error.outcome
    : { at: 'failed', why: `Slack cannot be reached: ${(error as Error).message}` }

/** Nothing that somebody wrote makes Slack fetch a page. */
const NO_UNFURLING = { unfurl_links: 'false', unfurl_media: 'false' } as const

const fieldsOf = ({ text, blocks }: SlackDrawing) => ({ text, blocks: JSON.stringify(blocks) })

function drawOneTask(
  task: DeskTask,
  { slack, content: mayShow = false }: ChannelConfig,
  link: string | undefined,
): SlackDrawing {
  const card = writeChatCard(task, mayShow)
  const about = link === undefined ? {} : { link }
  if (slack!.signing_secret === undefined || !mayShow || task.status !== 'pending') return drawTask(card, about)
  const reason = findElsewhereReason(task, card)
  return reason === undefined
    ? drawTask(card, { ...about, value: writeDrawnTask(task), note: AS_WHOM })
    : drawTask(card, { ...about, note: `Decide in the console: ${reason}.` })
}

const AS_WHOM = 'You decide as the person of your e-mail address in Slack.'

function drawTasks(tasks: readonly ShownTask[], mayShow: boolean, desk: ChannelParts['desk']): SlackDrawing {
  const waiting = tasks.filter(({ status }) => status === 'pending').length
  const count = waiting === tasks.length ? waiting : `${waiting} of ${tasks.length}`
  const title = waiting === 0 ? `All ${tasks.length} tasks are decided` : `${count} tasks wait for a decision`
  const lines = tasks.map((task) => {
    const link = desk.linkOf(task.id as TaskId)
    return {
      text: describeTaskInChat(task, mayShow),
      ...(task.status === 'pending' && task.expiresAt !== undefined && { at: task.expiresAt }),
      ...(link !== undefined && { link }),
    }
  })
  return drawList(title, lines)
}

function drawNotices(group: readonly NoticeMessage[]): SlackDrawing {
  const [first] = group
  if (group.length === 1) return drawNotice(first!)
  return drawList(
    `${group.length} notices`,
    group.map((message) => ({
      text: titleOfNotice(message),
      ...(message.link !== undefined && { link: message.link }),
    })),
  )
}
