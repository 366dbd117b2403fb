/**
 * API keys and operator credentials. Only the answer of create contains the secret.
 * Source: docs/design/http.md#keys-and-triggers
 */
import { createApiKeySecret, hashKey, keyPrefixOf } from '../../base/api-key.ts'
import { toIsoText, isoOrNull, type Instant } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import { foldIdentity } from '../../base/identity.ts'
import type { ApiKey, OperatorKey } from '../../spec/people/key.ts'
import type { KeyView, OperatorKeyView } from '../../operations/keys.ts'
import type { ServerServices } from '../runtime/services.ts'
import type { OperatorAction } from './people/act.ts'
import { findAgent, findKey, findTriggerOf } from './find/find.ts'
import { describeApiKey, nameOf } from './triggers.ts'

/** Name of keys that a command creates for itself and revokes at its end; lists show them only while they are valid. */
const ONE_COMMAND = 'one command'

export const createKey: OperatorAction<'POST /keys'> = async ({ services, operator, body, act }) => {
  const { allowUploads = false, oneCommand = false, name = null, expiresInSeconds } = body
  const agent = await findAgent(services, body.agent)
  const trigger = await findTriggerOf(services, agent, body.trigger)
  if (trigger.type !== 'api')
    throw fail('validation_failed', {
      what: `Trigger "${trigger.name}" is a ${trigger.type} trigger; keys belong to API triggers.`,
    })
  const secret = createApiKeySecret()
  const now = services.clock.now()
  const key: ApiKey = {
    id: services.ids.next(),
    workspaceId: services.workspace.id,
    agentId: agent.id,
    triggerId: trigger.id,
    name: oneCommand ? ONE_COMMAND : name,
    person: oneCommand ? operator.id : null,
    allowUploads,
    ...newSecret(secret, now, expiresInSeconds),
  }
  const made = act('key.created', {
    subject: describeApiKey(key, agent.name),
    after: { prefix: key.prefix, trigger: trigger.name, allowUploads, expiresAt: isoOrNull(key.expiresAt) },
    setup: [`key ${key.id}`],
  })
  await services.store.recording(made).createKey(key)
  return { ...(await toKeyView(services, key)), secret }
}

export const createOperatorKey: OperatorAction<'POST /operator-keys'> = async ({ services, body, act }) => {
  const { email, roles = [], name = null, expiresInSeconds } = body
  const secret = createApiKeySecret()
  const key: OperatorKey = {
    id: services.ids.next(),
    workspaceId: services.workspace.id,
    // One person in two spellings would be two approvers.
    email: foldIdentity(email),
    roles: [...new Set(roles)].sort(),
    name,
    ...newSecret(secret, services.clock.now(), expiresInSeconds),
  }
  const made = act('credential.created', {
    subject: `credential of ${key.email}`,
    after: { prefix: key.prefix, roles: [...key.roles], expiresAt: isoOrNull(key.expiresAt) },
    setup: [`credential ${key.id}`],
  })
  await services.store.recording(made).createOperatorKey(key)
  return { ...toOperatorKeyView(key), secret }
}

const newSecret = (secret: string, now: Instant, seconds: number | undefined) => ({
  prefix: keyPrefixOf(secret),
  hash: hashKey(secret),
  createdAt: now,
  expiresAt: seconds === undefined ? null : now + seconds * 1000,
  revokedAt: null,
  lastUsedAt: null,
})

export const listKeys: OperatorAction<'GET /keys'> = async ({ services, query }) => {
  const agentId = query.agent === undefined ? undefined : (await findAgent(services, query.agent)).id
  const now = services.clock.now()
  const over = (key: ApiKey): boolean => key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)
  const { all = false } = query
  const keys = (await services.store.keys(services.workspace.id)).filter(
    (key) => (agentId === undefined || key.agentId === agentId) && (all || key.name !== ONE_COMMAND || !over(key)),
  )
  const persons = agentId === undefined ? await services.store.operatorKeys(services.workspace.id) : []
  const items = [...(await Promise.all(keys.map((key) => toKeyView(services, key)))), ...persons.map(toOperatorKeyView)]
  return { items, total: items.length }
}

/** Takes effect at once, on open streams too. */
export const revokeKey: OperatorAction<'POST /keys/:id/revoke'> = async ({ services, id, act }) => {
  const { store, clock, readers } = services
  const key = await findKey(services, id)
  const revokedAt = key.revokedAt ?? clock.now()
  if ('email' in key) {
    const revoked = act('credential.revoked', {
      subject: `credential of ${key.email}`,
      before: { prefix: key.prefix },
      setup: [`credential ${key.id}`],
    })
    await store.recording(revoked).revokeOperatorKey(key.id, revokedAt)
    readers.stop(key.id)
    return toOperatorKeyView({ ...key, revokedAt })
  }
  const subject = describeApiKey(key, await nameOf(services, key.agentId))
  const revoked = act('key.revoked', { subject, before: { prefix: key.prefix }, setup: [`key ${key.id}`] })
  await store.recording(revoked).revokeKey(key.id, revokedAt)
  readers.stop(key.id)
  return toKeyView(services, { ...key, revokedAt })
}

async function toKeyView(services: ServerServices, key: ApiKey): Promise<KeyView> {
  const trigger = await services.store.trigger(key.triggerId)
  return {
    keyId: key.id,
    agentId: key.agentId,
    agent: await nameOf(services, key.agentId),
    triggerId: key.triggerId,
    trigger: trigger?.name ?? key.triggerId,
    name: key.name,
    prefix: key.prefix,
    allowUploads: key.allowUploads,
    ...toTimes(key),
  }
}

const toOperatorKeyView = (key: OperatorKey): OperatorKeyView => ({
  keyId: key.id,
  email: key.email,
  roles: key.roles,
  name: key.name,
  prefix: key.prefix,
  ...toTimes(key),
})

const toTimes = (key: ApiKey | OperatorKey) => ({
  createdAt: toIsoText(key.createdAt),
  expiresAt: isoOrNull(key.expiresAt),
  revokedAt: isoOrNull(key.revokedAt),
  lastUsedAt: isoOrNull(key.lastUsedAt),
})
