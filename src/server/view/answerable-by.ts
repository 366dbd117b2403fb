/**
 * Tasks as one caller may answer them. Stored content says what keys may answer at all; an approval leaves that list for a key whose
 * trigger does not let it approve, so that its program does not ask for what would be refused.
 */
import { isJsonObject, type JsonObject } from '../../base/json/json.ts'
import type { Conversation, TimelineItem } from '../../spec/api.ts'
import type { LiveText, StoredEvent } from '../../spec/event.ts'
import { mayApprove, type Principal } from '../../spec/people/key.ts'

/** The content of a task, or of a step that is about one. */
export const contentFor = <T extends object>(principal: Principal, content: T): T =>
  mayApprove(principal) || !isApproval(content) ? content : { ...content, completable_via: ['operator'] }

const isApproval = (content: object): boolean =>
  (content as { kind?: unknown }).kind === 'approval' && 'completable_via' in content

export const conversationFor = (principal: Principal, conversation: Conversation): Conversation =>
  mayApprove(principal)
    ? conversation
    : { ...conversation, items: conversation.items.map((item) => stepFor(principal, item)) }

/** A step of a timeline, which in an event is plain JSON. */
function stepFor<T extends TimelineItem | JsonObject>(principal: Principal, step: T): T {
  const { content } = step
  if (!isJsonObject(content)) return step
  const own = contentFor(principal, content)
  return own === content ? step : { ...step, content: own }
}

/** One object per event for all readers, so that its frame is encoded once. */
const eventsForKeys = new WeakMap<StoredEvent | LiveText, StoredEvent | LiveText>()

/** An event, which has a task, or the step of one. */
export function eventFor<E extends StoredEvent | LiveText>(principal: Principal, event: E): E {
  if (mayApprove(principal)) return event
  const known = eventsForKeys.get(event)
  if (known) return known as E
  const { task, step }: Readonly<JsonObject> = event.data
  const ownTask = isJsonObject(task) ? contentFor(principal, task) : task
  const ownStep = isJsonObject(step) ? stepFor(principal, step) : step
  if (ownTask === task && ownStep === step) return event
  const data = { ...event.data, ...(ownTask && { task: ownTask }), ...(ownStep && { step: ownStep }) }
  const own = { ...event, data }
  eventsForKeys.set(event, own)
  return own
}
