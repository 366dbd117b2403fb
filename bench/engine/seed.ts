/** Fills a store with runs like one that was really run, through the store's own doors. */
import type { IdSource } from '../../src/base/ids.ts'
import type { StartLimits } from '../../src/store/start-outcome.ts'
import type { Store } from '../../src/store/store.ts'
import type { SessionUpdate } from '../../src/store/session-update.ts'

/** Sessions under way at once: enough for full groups of writes, few enough to be no matter of memory. */
const AT_ONCE = 1000

/** @returns the id of the last of them */
export async function seed(
  store: Pick<Store, 'start' | 'save'>,
  turns: readonly SessionUpdate[],
  limits: StartLimits,
  ids: IdSource,
  count: number,
): Promise<string> {
  const copy = copier(turns, ids)
  let last = ''
  for (let done = 0; done < count; done += AT_ONCE) {
    const many = Math.min(AT_ONCE, count - done)
    await Promise.all(
      Array.from({ length: many }, async () => {
        const [first, ...more] = copy()
        await store.start(first!, limits)
        for (const turn of more) await store.save(turn)
        last = first!.session.rootRunId
      }),
    )
  }
  return last
}

/** The same turns with other ids of everything that happens. */
function copier(turns: readonly SessionUpdate[], ids: IdSource): () => SessionUpdate[] {
  const own = new Set(
    turns.flatMap(({ session, runs, steps, tasks }) => [
      session.id,
      ...[...runs, ...tasks].map(({ id }) => id),
      ...steps.map(({ id }) => id),
    ]),
  )
  const pieces = JSON.stringify(turns).split(new RegExp(`(${[...own].join('|')})`))
  return () => {
    const fresh = new Map<string, string>()
    const text = pieces.map((piece) => {
      if (!own.has(piece as never)) return piece
      const id = fresh.get(piece) ?? ids.next()
      fresh.set(piece, id)
      return id
    })
    return JSON.parse(text.join('')) as SessionUpdate[]
  }
}
