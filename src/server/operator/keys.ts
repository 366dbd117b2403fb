/** API keys. The secret is in the answer to create and nowhere else. Source: HTTP API, "API key"; security, S1. */
import { createApiKeySecret, hashKey, prefixOf } from '../../base/api-key.ts'
import { iso, isoOrNull } from '../../base/clock.ts'
import { fail } from '../../base/failure.ts'
import type { ApiKey } from '../../spec/key.ts'
import { ONE_COMMAND, type KeyView } from '../../spec/operator.ts'
import type { Services } from '../services.ts'
import { reader } from './reader.ts'
import type { Act } from './act.ts'
import { findAgent, findKey, findTriggerOf } from './find.ts'
import { nameOf } from './triggers.ts'

export const createKey: Act<'POST /keys'> = async ({ services, body }) => {
  const check = reader(body)
  const reference = check.required('agent', check.text('agent', { min: 1, max: 300 }))
  const triggerReference = check.required('trigger', check.text('trigger', { min: 1, max: 100 }))
  const allowUploads = check.boolean('allowUploads') ?? false
  const name = check.text('name', { max: 100 }) ?? null
  const seconds = check.bytes('expiresInSeconds')
  check.done()
  const agent = await findAgent(services, reference!)
  const trigger = await findTriggerOf(services, agent, triggerReference!)
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
    name,
    prefix: prefixOf(secret),
    hash: hashKey(secret),
    allowUploads,
    createdAt: now,
    expiresAt: seconds === undefined ? null : now + seconds * 1000,
    revokedAt: null,
    lastUsedAt: null,
  }
  await services.store.createKey(key)
  return { ...(await toKeyView(services, key)), secret }
}

export const listKeys: Act<'GET /keys'> = async ({ services, query }) => {
  const reference = query.get('agent')
  const agentId = reference === null ? undefined : (await findAgent(services, reference)).id
  const now = services.clock.now()
  const over = (key: ApiKey): boolean => key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)
  const all = query.get('all') === 'true'
  const keys = (await services.store.keys(services.workspace.id)).filter(
    (key) => (agentId === undefined || key.agentId === agentId) && (all || key.name !== ONE_COMMAND || !over(key)),
  )
  const items = await Promise.all(keys.map((key) => toKeyView(services, key)))
  return { items, total: items.length }
}

/** Takes effect at once, on open streams too. */
export const revokeKey: Act<'POST /keys/:id/revoke'> = async ({ services, id }) => {
  const key = await findKey(services, id)
  if (key.revokedAt === null) await services.store.revokeKey(key.id, services.clock.now())
  services.readers.stop(key.id)
  return toKeyView(services, await findKey(services, id))
}

async function toKeyView(services: Services, key: ApiKey): Promise<KeyView> {
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
    createdAt: iso(key.createdAt),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
  }
}
