/** Gathers work of one kind: what arrives while a statement is under way shares the next one, without a timer. */
import { setTimeout as delay } from 'node:timers/promises'
import { isConflict, isOverloaded, isServerError } from './errors.ts'

export interface BatchParts<Item, Answer> {
  /** Items with the same key are not made together; undefined: no restriction. */
  readonly key: (item: Item) => string | undefined
  /** Makes all items in one transaction, and resolves with an answer for each. */
  readonly make: (items: readonly Item[]) => Promise<readonly Answer[]>
}

export interface BatchQueue<Item, Answer> {
  /** @throws the error of `make` where it fails for this item alone */
  add(item: Item): Promise<Answer>
  /** Resolves when everything added until now is settled. */
  drained(): Promise<void>
}

/** Items per statement; bounds its text and how long it locks rows. */
const AT_ONCE = 200

/** Attempts of a batch that conflicts with one of another process. */
const ATTEMPTS = 10

interface WaitingItem<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export function createBatchQueue<Item, Answer>({ key, make }: BatchParts<Item, Answer>): BatchQueue<Item, Answer> {
  let waiting: WaitingItem<Item, Answer>[] = []
  let working: Promise<void> | undefined

  async function work(): Promise<void> {
    // After this tick, so that all writes of one tick share a statement.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) await makeTogether(takeSome())
    // In the same step as the last check, so that an item added later starts new work.
    working = undefined
  }

  function takeSome(): readonly WaitingItem<Item, Answer>[] {
    const keys = new Set<string>()
    const taken: WaitingItem<Item, Answer>[] = []
    const left: WaitingItem<Item, Answer>[] = []
    for (const each of waiting) {
      const own = key(each.item)
      if (taken.length === AT_ONCE || (own !== undefined && keys.has(own))) left.push(each)
      else {
        taken.push(each)
        if (own !== undefined) keys.add(own)
      }
    }
    waiting = left
    return taken
  }

  async function makeTogether(batch: readonly WaitingItem<Item, Answer>[]): Promise<void> {
    try {
      const answers = await withoutConflict(() => make(batch.map(({ item }) => item)))
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index]!)
    } catch (error) {
      // The server refused the whole batch: nothing is stored, and one item alone may be the cause.
      if (batch.length > 1 && isServerError(error) && !isOverloaded(error))
        for (const each of batch) await makeTogether([each])
      else for (const { reject } of batch) reject(error)
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject })
        working ??= work()
      }),
    async drained() {
      for (let each = working; each; each = working) await each
    },
  }
}

async function withoutConflict<T>(make: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await make()
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) throw error
      await delay(Math.random() * 10 * attempt)
    }
  }
}
