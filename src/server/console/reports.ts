/**
 * POST /console/reports: logs violations of the page's content security policy. An unchanged page has none, so a report
 * means that the page was modified or that a browser extension interferes. Source: docs/design/console.md#what-the-page-may-do
 */
import { cutText } from '../../base/text/cut-text.ts'
import { isJsonObject } from '../../base/json/json.ts'
import { safeText } from '../../base/text/escape-text.ts'
import { readJson, type BodyLimits } from '../http/body.ts'
import { okReply } from '../http/reply.ts'
import type { ApiRoute } from '../http/route.ts'
import type { ServerServices } from '../runtime/services.ts'
import { identifyVisitor } from './visitor.ts'
import type { ListenerRules } from './address.ts'

const BODY: BodyLimits = { maxBytes: 4096, maxLevels: 2, maxValues: 10 }
/** Maximum characters of one field. */
const MAX_TEXT = 200
/** Reports logged per minute; repeated ones add nothing. */
const MAX_PER_MINUTE = 20

export function reportRoute(services: ServerServices, rules: ListenerRules): ApiRoute {
  const { clock, log } = services
  let [minute, count] = [0, 0]
  return {
    method: 'POST',
    path: '/console/reports',
    async handle(call) {
      const { operator } = await identifyVisitor(rules)(services, call)
      const body = await readJson(call, BODY)
      const now = Math.floor(clock.now() / 60_000)
      if (now !== minute) [minute, count] = [now, 0]
      if (++count <= MAX_PER_MINUTE)
        log.write('warn', 'the page of the console was stopped by its own policy', {
          operator: operator.id,
          ...(isJsonObject(body) ? fieldsOf(body) : {}),
        })
      return okReply({ reported: count <= MAX_PER_MINUTE })
    },
  }
}

const fieldsOf = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    ['directive', 'blocked', 'source', 'line'].flatMap((name) => {
      const value = body[name]
      return typeof value === 'string' || typeof value === 'number'
        ? [[name, cutText(safeText(String(value)), MAX_TEXT).text]]
        : []
    }),
  )
