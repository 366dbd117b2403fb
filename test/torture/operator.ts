/** An operator who decides what became of calls by looking into the ledger. */
import { setTimeout as after } from 'node:timers/promises'
import { createIds, workspaceIdOf } from '../../src/base/ids.ts'
import { silentLog } from '../../src/base/log.ts'
import { createRedactor } from '../../src/base/secret.ts'
import { createEngine } from '../../src/engine/open.ts'
import type { GivenAnswer, TaskRecord } from '../../src/spec/task.ts'
import type { Store } from '../../src/store/store.ts'
import { ANY_TOOL } from './any-tool.ts'
import type { Ledger } from './ledger.ts'

export const WORKSPACE_ID = workspaceIdOf('courier')

export interface LedgerReader {
  /** What was decided, by option. */
  readonly decisions: Readonly<Record<string, number>>
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 250

/** Decides as a command does that records an answer beside the servers, and performs no effect. */
export function openOperatorDesk(store: Store, ledger: Ledger, random: () => number): LedgerReader {
  const engine = createEngine({
    store,
    worker: 'operator',
    sends: false,
    clock: store.clock,
    ids: createIds(() => Date.now()),
    random,
    log: silentLog,
    redactor: createRedactor(),
    ...ANY_TOOL,
  })
  const decisions: Record<string, number> = {}
  const over = new AbortController()

  async function decideAll(): Promise<void> {
    const { items } = await store.tasks(
      { workspaceId: WORKSPACE_ID, kinds: ['anomaly_review'] },
      { skip: 0, take: 100 },
    )
    for (const task of items) {
      const answer = decisionOf(task)
      const by = { type: 'operator', id: 'olga', proof: 'credential', workspaceId: WORKSPACE_ID, roles: [] } as const
      await engine.answer(task.runId, { taskId: task.id, by, ...answer }).then(
        () => (decisions[answer.selectedOptionId!] = (decisions[answer.selectedOptionId!] ?? 0) + 1),
        // Another attempt is refused while the first may still arrive, and anything while the database is away.
        () => {},
      )
    }
  }

  function decisionOf({ context }: TaskRecord): Partial<GivenAnswer> {
    const key = context?.['idempotency_key'] as string
    if (ledger.arrivals(key) > 0) return { selectedOptionId: 'happened', textValue: JSON.stringify({ done: key }) }
    return { selectedOptionId: random() < 0.5 ? 'retry' : 'skip' }
  }

  const work = (async () => {
    while (!over.signal.aborted) {
      await decideAll().catch(() => {})
      await after(LOOK_EVERY_MS)
    }
  })()
  return {
    decisions,
    async stop() {
      over.abort()
      await work
      await engine.close(0)
    },
  }
}
