/** The protocol without one of its parts. Each part is there because some history breaks a promise without it. */
import type { SessionLease } from '../../../src/store/lease.ts'
import type { openDatabase } from '../../../src/store/sqlite/database/database.ts'
import type { Store } from '../../../src/store/store.ts'

export interface Weakness {
  /** The store as a process sees it. */
  readonly store?: (store: Store, db: ReturnType<typeof openDatabase>) => Store
  /** Requests leave without asking whether they may. */
  readonly unguarded?: boolean
  /** Requests leave although they were called off. */
  readonly deaf?: boolean
  /** Processes decide by their own clocks. */
  readonly ownTime?: boolean
}

/** Every claim gives the same epoch, so an earlier holder passes for the present one. */
function withoutEpoch(store: Store): Store {
  const real = new Map<string, number>()
  const hide = <T extends SessionLease>(lease: T): T => {
    real.set(lease.sessionId, lease.epoch)
    return { ...lease, epoch: 1 }
  }
  return {
    ...store,
    claim: async (...given) => (await store.claim(...given)).map(hide),
    claimOne: async (...given) => {
      const lease = await store.claimOne(...given)
      return lease && hide(lease)
    },
    renew: async (...given) => (await store.renew(...given)).map(hide),
    release: (worker, leases) =>
      store.release(
        worker,
        leases.map(({ sessionId }) => ({ sessionId, epoch: real.get(sessionId) ?? 1 })),
      ),
    save: async (update, holder) => {
      const lease = await store.save(update, holder && { worker: holder.worker, ttlMs: holder.ttlMs })
      return lease && hide(lease)
    },
  }
}

/** What a process saves replaces what others have saved since it read the session. */
function withoutVersions(store: Store, db: ReturnType<typeof openDatabase>): Store {
  const versionOf = db.prepare<[string], number>('select version from session where id = ?').pluck()
  return {
    ...store,
    save: (update, holder) =>
      store.save({ ...update, session: { ...update.session, version: versionOf.get(update.session.id)! } }, holder),
  }
}

/** As it was before leases: a process that looks for work takes all of it, whoever works on it. */
function withOldRecovery(store: Store, db: ReturnType<typeof openDatabase>): Store {
  const releaseOthers = db.prepare<[string]>(
    'update session set owner = null, lease_until = null where owner is not null and owner <> ?',
  )
  return {
    ...store,
    claim(worker, ...given) {
      releaseOthers.run(worker)
      return store.claim(worker, ...given)
    },
  }
}

export const WEAKNESSES = {
  'no guard': { unguarded: true },
  'no epoch': { store: withoutEpoch },
  'no version': { store: withoutVersions },
  'old recovery': { store: withOldRecovery },
  'no call-off': { deaf: true },
  'own time': { ownTime: true },
  'no epoch, no call-off': { store: withoutEpoch, deaf: true },
} as const satisfies Readonly<Record<string, Weakness>>

export type WeaknessName = keyof typeof WEAKNESSES
