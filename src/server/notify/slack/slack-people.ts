/**
 * Who a person of Slack is here, and the other way round: by the e-mail address that both know. Slack's answers are kept for some minutes;
 * what a person may here is read each time. Source: docs/design/notifications.md#slack
 */
import { foldIdentity } from '../../../base/identity.ts'
import { isJsonObject, type JsonObject } from '../../../base/json/json.ts'
import { hasNeededRoles } from '../../../spec/people/approver-role.ts'
import type { OperatorKey } from '../../../spec/people/key.ts'
import type { ChannelParts } from '../channel.ts'
import { textIn } from './draw-blocks.ts'
import { SlackFault, type SlackApi } from './slack-api.ts'

const KEPT_MS = 5 * 60_000
const MOST_KEPT = 1000
/** Beyond this nobody is told directly: a channel is for many. */
const MOST_TOLD = 20

export interface SlackPeople {
  /** Ids of the people with a role who are in Slack. @throws SlackFault */
  findWithRole(role: string, signal: AbortSignal): Promise<readonly string[]>
  /** The credentials of the person whom Slack knows by this id. @throws SlackFault */
  identify(userId: string, signal: AbortSignal): Promise<SlackIdentity>
}

export type SlackIdentity =
  | { readonly at: 'known'; readonly email: string; readonly credentials: readonly OperatorKey[] }
  | { readonly at: 'unknown'; readonly why: string }

export function createSlackPeople(api: SlackApi, { clock, desk }: Pick<ChannelParts, 'clock' | 'desk'>): SlackPeople {
  const remember = createMemory(() => clock.now())
  const ids = remember<string | null>()
  const users = remember<JsonObject | null>()
  const teams = remember<JsonObject>()

  const findId = (email: string, signal: AbortSignal): Promise<string | null> =>
    ids.read(email, async () => {
      const user = await orNull('users_not_found', api.call('users.lookupByEmail', { email }, signal))
      return textIn(user?.body['user'], 'id') ?? null
    })
  const readTeam = (signal: AbortSignal): Promise<JsonObject> =>
    teams.read('', async () => (await api.call('auth.test', {}, signal)).body)

  return {
    async findWithRole(role, signal) {
      const people = (await desk.listPeople()).filter(({ roles }) => hasNeededRoles(roles, role))
      const emails = [...new Set(people.map(({ email }) => email))].slice(0, MOST_TOLD)
      const found: string[] = []
      for (const email of emails) {
        const id = await findId(email, signal)
        if (id !== null) found.push(id)
      }
      return found
    },
    async identify(userId, signal) {
      const user = await users.read(userId, async () => {
        const answer = await orNull('user_not_found', api.call('users.info', { user: userId }, signal))
        const given = answer?.body['user']
        return isJsonObject(given) ? given : null
      })
      const email = textIn(user?.['profile'], 'email')
      if (!user || email === undefined) return unknown('Slack tells no e-mail address of you')
      const team = await readTeam(signal)
      if (!isOfOurs(user, team))
        return unknown('you belong to another workspace of Slack, which could give you any address')
      if (user['deleted'] === true || user['is_bot'] === true)
        return unknown('you are no person of this workspace of Slack')
      if (user['is_email_confirmed'] === false) return unknown('your e-mail address is not confirmed in Slack')
      const id = foldIdentity(email)
      const credentials = (await desk.listPeople()).filter((each) => foldIdentity(each.email) === id)
      return credentials.length > 0
        ? { at: 'known', email: id, credentials }
        : unknown(`nobody with the address ${email} has a credential (svc keys create --operator --email ${email})`)
    },
  }
}

const unknown = (why: string): SlackIdentity => ({ at: 'unknown', why })

/**
 * True for a member of the workspace that the token belongs to, or of its organization. In a channel that is shared with others, their
 * administrators choose the addresses of their people.
 */
function isOfOurs(user: JsonObject, team: JsonObject): boolean {
  const [ours, organization] = [textIn(team, 'team_id'), textIn(team, 'enterprise_id')]
  if (ours !== undefined && textIn(user, 'team_id') === ours) return true
  return organization !== undefined && textIn(user['enterprise_user'], 'enterprise_id') === organization
}

async function orNull<T>(code: string, asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof SlackFault && error.code === code) return null
    throw error
  }
}

/** Answers by a text, for some minutes, and of a bounded number of texts. */
function createMemory(now: () => number) {
  return <T>() => {
    const kept = new Map<string, { readonly value: T; readonly until: number }>()
    return {
      async read(key: string, ask: () => Promise<T>): Promise<T> {
        const known = kept.get(key)
        if (known && known.until > now()) return known.value
        const value = await ask()
        kept.delete(key)
        // The first one is the one that was asked longest ago.
        if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value!)
        kept.set(key, { value, until: now() + KEPT_MS })
        return value
      },
    }
  }
}
