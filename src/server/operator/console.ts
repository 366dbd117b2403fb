/** Addresses that sign a browser in to the console, and the browsers that are signed in. Source: docs/design/console.md#signing-in */
import { toIsoText, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { foldIdentity } from '../../base/identity.ts'
import type { ConsoleSession } from '../../spec/people/key.ts'
import type { ConsoleSessionView } from '../../operations/server.ts'
import type { ActAbout } from '../../spec/people/act.ts'
import { consoleReader } from '../runtime/watch-readers.ts'
import type { OperatorAction } from './people/act.ts'
import { notFoundFailure } from './find/find.ts'

/** Maximum sessions in an answer; nobody reads more. */
const MAX_SESSIONS = 200

export const createConsoleCode: OperatorAction<'POST /console/codes'> = async ({
  services,
  operator,
  keyId,
  provider,
  act,
}) => {
  const { signInCodes, serverState } = services
  // The code would outlive what the provider says, and its limits.
  if (provider) throw fail('not_permitted', { why: 'Whom a provider signed in signs in there in each browser.' })
  if (serverState.consoleUrl === null) throw fail('console_off')
  await services.store.addAct(act('console.invited', { subject: 'an address that signs in to the console' }))
  const { code, expiresAt } = signInCodes.create({ operator: operator.id, keyId: keyId ?? null })
  // The code is in the fragment, which browsers send to no server, proxy or log.
  return { url: `${serverState.consoleUrl}/#code=${code}`, expiresAt: toIsoText(expiresAt) }
}

export const listConsoleSessions: OperatorAction<'GET /console/sessions'> = async ({
  services,
  consoleSession,
  commandSession,
}) => {
  const sessions = await services.store.consoleSessions(services.workspace.id, MAX_SESSIONS)
  const items = sessions.map((each) => toConsoleSessionView(each, (consoleSession ?? commandSession) === each.id))
  return { items, total: items.length }
}

/** Takes effect at once, on open streams too. */
export const endConsoleSession: OperatorAction<'POST /console/sessions/:id/end'> = async ({
  services,
  id,
  consoleSession,
  commandSession,
  act,
}) => {
  const { store, clock, readers, workspace } = services
  const found = (await store.consoleSessions(workspace.id, MAX_SESSIONS)).find((each) => each.id === id)
  if (!found) throw notFoundFailure('session of the console')
  const endedAt = found.endedAt ?? clock.now()
  await store.recording(act('console.signed_out', describeConsoleSession(found))).endConsoleSession(found.id, endedAt)
  readers.stop(consoleReader(found.id))
  return toConsoleSessionView({ ...found, endedAt }, (consoleSession ?? commandSession) === found.id)
}

/** Ends every session that a person has, in browsers and of commands; credentials stay. */
export const signOutEverywhere: OperatorAction<'POST /console/sign-out'> = async ({ services, body, act }) => {
  const { store, clock, readers, workspace } = services
  const operator = foldIdentity(body.operator)
  const ended = act('person.signed_out', { subject: operator, setup: [`sign-ins ${operator}`] })
  if (!(await store.recording(ended).endConsoleSessionsOf(workspace.id, operator, clock.now())))
    throw fail(
      'not_found',
      { what: `session of ${operator}` },
      { fix: 'svc console --sessions shows who is signed in.' },
    )
  const sessions = await store.consoleSessions(workspace.id, MAX_SESSIONS)
  for (const { id } of sessions.filter((each) => each.operator === operator)) readers.stop(consoleReader(id))
  return { operator }
}

export const describeConsoleSession = ({ id, operator, browser, purpose, provider }: ConsoleSession): ActAbout => ({
  setup: [`sign-ins ${operator}`],
  subject: `the ${purpose === 'console' ? 'console' : 'command line'}, as ${operator}`,
  after: {
    session: id,
    browser,
    ...(provider && { issuer: provider.issuer, subject: provider.subject, groups: [...provider.groups] }),
  },
})

const toConsoleSessionView = (session: ConsoleSession, isThis: boolean): ConsoleSessionView => ({
  sessionId: session.id,
  operator: session.operator,
  keyId: session.keyId,
  purpose: session.purpose,
  issuer: session.provider?.issuer ?? null,
  groups: session.provider?.groups ?? [],
  browser: session.browser,
  createdAt: toIsoText(session.createdAt),
  lastUsedAt: toIsoText(session.lastUsedAt),
  expiresAt: isoOrNull(session.expiresAt),
  endedAt: isoOrNull(session.endedAt),
  isThis,
})
