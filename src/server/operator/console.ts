/** Addresses that sign a browser in to the console, and the browsers that are signed in. Source: docs/design/console.md#signing-in */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { ConsoleSession } from '../../spec/key.ts'
import type { ConsoleSessionView } from '../../operations/server.ts'
import type { ActAbout } from '../../spec/act.ts'
import { consoleReader } from '../runtime/watch-readers.ts'
import type { OperatorAction } from './people/act.ts'
import { notFoundFailure } from './find/find.ts'

/** Maximum sessions in an answer; nobody reads more. */
const MAX_SESSIONS = 200

export const createConsoleCode: OperatorAction<'POST /console/codes'> = async ({ services, operator, keyId, act }) => {
  const { signInCodes, serverState } = services
  if (serverState.consoleUrl === null) throw fail('console_off')
  await services.store.addAct(act('console.invited', { subject: 'an address that signs in to the console' }))
  const { code, expiresAt } = signInCodes.create({ operator: operator.id, keyId: keyId ?? null })
  // The code is in the fragment, which browsers send to no server, proxy or log.
  return { url: `${serverState.consoleUrl}/#code=${code}`, expiresAt: toIsoText(expiresAt) }
}

export const listConsoleSessions: OperatorAction<'GET /console/sessions'> = async ({ services, consoleSession }) => {
  const sessions = await services.store.consoleSessions(services.workspace.id, MAX_SESSIONS)
  const items = sessions.map((each) => toConsoleSessionView(each, consoleSession === each.id))
  return { items, total: items.length }
}

/** Takes effect at once, on open streams too. */
export const endConsoleSession: OperatorAction<'POST /console/sessions/:id/end'> = async ({
  services,
  id,
  consoleSession,
  act,
}) => {
  const { store, clock, readers, workspace } = services
  const found = (await store.consoleSessions(workspace.id, MAX_SESSIONS)).find((each) => each.id === id)
  if (!found) throw notFoundFailure('session of the console')
  const endedAt = found.endedAt ?? clock.now()
  await store.recording(act('console.signed_out', describeConsoleSession(found))).endConsoleSession(found.id, endedAt)
  readers.stop(consoleReader(found.id))
  return toConsoleSessionView({ ...found, endedAt }, consoleSession === found.id)
}

export const describeConsoleSession = ({ id, operator, browser }: ConsoleSession): ActAbout => ({
  subject: `the console, as ${operator}`,
  after: { session: id, browser },
})

const toConsoleSessionView = (session: ConsoleSession, isThis: boolean): ConsoleSessionView => ({
  sessionId: session.id,
  operator: session.operator,
  keyId: session.keyId,
  browser: session.browser,
  createdAt: toIsoText(session.createdAt),
  lastUsedAt: toIsoText(session.lastUsedAt),
  endedAt: isoOrNull(session.endedAt),
  isThis,
})
