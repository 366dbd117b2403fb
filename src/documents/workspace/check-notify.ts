/** What the schema cannot say of `notify` in the project file. Source: docs/design/notifications.md#routes */
import type { NotifyConfig } from '../../spec/project/config.ts'
import { parseDuration } from '../../base/duration.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { withinProblem } from '../../policy/condition/within.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'

/** Longer tries would keep a claimed notice from every other process. */
export const MAX_TRY_MS = 60_000
/** A link that decides lies in a mailbox as long as this. */
const MAX_LINK_MS = 24 * 3_600_000

export function checkNotify(file: DocumentSpans, { channels, routes, quiet_hours: quiet }: NotifyConfig): Diagnostic[] {
  const names = Object.keys(channels)
  const finding = (pointer: string, message: string, fix: string): Diagnostic =>
    createFinding('doc/schema', 'error', file.placeOf(pointer), message, { fix })
  const unknown = routes.flatMap(({ to }, index) =>
    to.flatMap((name, at) => {
      if (Object.hasOwn(channels, name)) return []
      const meant = nearestCandidate(name, names)
      return [
        finding(
          `/notify/routes/${index}/to/${at}`,
          `notify.routes[${index}].to[${at}] names the channel "${name}", which notify.channels does not have.${didYouMean(meant)}`,
          names.length === 0 ? 'Add the channel to notify.channels.' : `Name one of ${names.join(', ')}, or add it.`,
        ),
      ]
    }),
  )
  const delayed = routes.flatMap(({ events, after }, index) =>
    after === undefined || events.every((event) => event === 'task.created')
      ? []
      : [
          finding(
            `/notify/routes/${index}/after`,
            `notify.routes[${index}].after is only for task.created, but the route has other events, too.`,
            'Give the other events a route of their own.',
          ),
        ],
  )
  const slow = Object.entries(channels).flatMap(([name, { timeout }]) =>
    timeout === undefined || (parseDuration(timeout) ?? 0) <= MAX_TRY_MS
      ? []
      : [
          finding(
            pointerTo(pointerTo('/notify/channels', name), 'timeout'),
            `notify.channels.${name}.timeout is longer than ${MAX_TRY_MS / 1000}s.`,
            'Answer at once, and do what takes long afterwards.',
          ),
        ],
  )
  const links = Object.entries(channels).flatMap(([name, { email, content = false }]) => {
    const within = email?.decide_within
    if (within === undefined) return []
    const path = `notify.channels.${name}.email.decide_within`
    const at = pointerTo(pointerTo(pointerTo('/notify/channels', name), 'email'), 'decide_within')
    const length = parseDuration(within) ?? 0
    return [
      ...(content
        ? []
        : [finding(at, `${path} needs content: true, since nobody decides what the mail may not show.`, CONTENT_FIX)]),
      ...(length > 0 && length <= MAX_LINK_MS
        ? []
        : [finding(at, `${path} is not between 1ms and 24h.`, 'Write how long such a link may be used, such as 1h.')]),
    ]
  })
  const problem = quiet === undefined ? undefined : withinProblem(toJson(quiet))
  const unclear =
    problem === undefined
      ? []
      : [
          finding(
            '/notify/quiet_hours',
            `notify.quiet_hours: ${problem.replaceAll('`within`', 'quiet_hours')}`,
            'Write them as {from: "22:00", to: "07:00", tz: Europe/Berlin}.',
          ),
        ]
  return [...unknown, ...delayed, ...slow, ...links, ...unclear]
}

const CONTENT_FIX = 'Add `content: true` to the channel, or remove `decide_within`.'
