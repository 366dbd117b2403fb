/** A version that somebody changed in the database does not run. Source: docs/design/trust.md#what-runs */
import { expect, test } from 'vitest'
import { isFailure } from '../../src/base/failure.ts'
import { versionIdOf } from '../../src/base/ids.ts'
import type { JsonObject, JsonValue } from '../../src/base/json/json.ts'
import { withIntactVersions } from '../../src/server/runtime/open/intact-versions.ts'
import type { AgentSnapshot } from '../../src/spec/snapshot.ts'
import type { Store } from '../../src/store/store.ts'
import type { AgentVersion } from '../../src/store/version-rows.ts'
import { snapshotOf } from './fixtures.ts'
import { policiesFor, scripted, tool } from './running.ts'

const { digest: _, ...content } = scripted([{ say: 'ok' }], [tool('acme.pay', {})])
const SNAPSHOT = snapshotOf('acme.desk', '1.0.0', { ...content, policies: policiesFor('pay') })
const ID = versionIdOf('acme', SNAPSHOT.id, SNAPSHOT.digest)

const storeOf = (snapshot: AgentSnapshot): Store =>
  withIntactVersions(
    {
      version: async () => ({ id: ID, snapshot }) as AgentVersion,
      versionByDigest: async () => ({ id: ID, snapshot }) as AgentVersion,
    } as unknown as Store,
    'acme',
  )

/** What no digest covers, since nothing reads it: where a policy was written, and members that a set of policies does not have. */
const isRead = (path: readonly (string | number)[]): boolean =>
  !path.includes('origin') && path.join('/') !== 'policies/other'

/** The same value with one part changed, for each part. */
function changesOf(value: JsonValue, path: readonly (string | number)[] = []): readonly JsonValue[] {
  if (!isRead(path)) return []
  if (Array.isArray(value))
    return [
      [...value, 1],
      ...value.flatMap((each, at) => changesOf(each, [...path, at]).map((other) => value.with(at, other))),
    ]
  if (value === null || typeof value !== 'object') return [value === 'other' ? 'another' : 'other']
  const members = Object.entries(value as JsonObject)
  const changed = members.flatMap(([name, each]) =>
    changesOf(each, [...path, name]).map((other) => ({ ...value, [name]: other })),
  )
  return isRead([...path, 'other']) ? [{ ...value, other: 1 }, ...changed] : changed
}

test('a version is given as it was published', async () => {
  expect((await storeOf(SNAPSHOT).version(ID))?.snapshot).toBe(SNAPSHOT)
})

test('whatever is changed in a snapshot is found, however the version is asked for', async () => {
  const changed = changesOf(SNAPSHOT as unknown as JsonValue)
  expect(changed.length).toBeGreaterThan(40)
  for (const each of changed) {
    const store = storeOf(each as unknown as AgentSnapshot)
    for (const ask of [() => store.version(ID), () => store.versionByDigest(undefined as never, SNAPSHOT.digest)])
      await expect(ask()).rejects.toSatisfy((error) => isFailure(error, 'version_altered'), JSON.stringify(each))
  }
})

test('a snapshot that lost its name is named by the id of its version', async () => {
  for (const each of [{}, { ...SNAPSHOT, id: null }, { ...SNAPSHOT, version: 1 }])
    await expect(storeOf(each as unknown as AgentSnapshot).version(ID)).rejects.toThrow(
      `Version ${ID} in the database is not what was published`,
    )
})

test('another version in its place is found, though its digest is its own', async () => {
  const other = snapshotOf('acme.desk', '1.0.0', { ...content, purpose: 'Pays more.' })
  await expect(storeOf(other).version(ID)).rejects.toSatisfy((error) => isFailure(error, 'version_altered'))
})
