/** Acts in the transactions of what they record. */
import type { NewAct } from '../../spec/people/act.ts'
import { actOfAnswer, type DescribeAct } from '../act-store.ts'
import { POSTGRES } from '../dialect.ts'
import { prepareActs } from '../nouns/acts.ts'
import type { WorkRunners } from '../statement.ts'
import type { PostgresPool } from './database/pool.ts'
import type { PostgresQueries } from './database/queries.ts'
import { runWork } from './database/run-work.ts'

const { transactions } = prepareActs(POSTGRES)

/** Writes acts on the connection of an open transaction, after everything else that it writes. */
export async function writeActs(tx: PostgresQueries, acts: readonly NewAct[]): Promise<void> {
  for (const act of acts) await runWork(tx, transactions.addAct(act))
}

/** A pool on which each write is a transaction that records an act, too. */
export function recordingPool(pool: PostgresPool, describe: DescribeAct): PostgresPool {
  const transaction: PostgresPool['transaction'] = (work) =>
    pool.transaction(async (tx) => {
      const answer = await work(tx)
      const act = actOfAnswer(describe, answer)
      if (act) await writeActs(tx, [act])
      return answer
    })
  return { ...pool, transaction, run: (sql, values) => transaction((tx) => tx.run(sql, values)) }
}

/** Work of several statements is one transaction, too: it records one act. */
export function recordingRunners(recorded: PostgresPool): WorkRunners {
  const transact: WorkRunners['transact'] = (make) => recorded.transaction((tx) => runWork(tx, make()))
  return { read: (make) => runWork(recorded, make()), write: transact, transact }
}
