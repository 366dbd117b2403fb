/** What the schema cannot say of `notify` in the project file. Source: docs/design/notifications.md#routes */
import type { NotifyConfig } from '../../spec/config.ts'
import { parseDuration } from '../../base/duration.ts'
import { toJson } from '../../base/json/typed-json.ts'
import { withinProblem } from '../../policy/condition/within.ts'
import { pointerTo } from '../../base/json/pointer.ts'
import { createFinding, type Diagnostic } from '../text/diagnostic.ts'
import type { DocumentSpans } from '../text/document.ts'
import { didYouMean, nearestCandidate } from '../text/suggest.ts'

/** Longer tries would keep a claimed notice from every other process. */
export const MAX_TRY_MS = 60_000

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
  return [...unknown, ...delayed, ...slow, ...unclear]
}
