/** The server of `bench/engine`, which also counts its statements and records profiles when its parent asks. */
import { Session, type Profiler } from 'node:inspector'
import { countStatements, type StatementUse } from './statements.ts'

export type Question = { readonly ask: 'statements' | 'record' | 'recorded' }

export interface Answer {
  readonly statements?: Readonly<Record<string, StatementUse>>
  readonly profile?: Profiler.Profile
}

/** Microseconds between two samples. */
const INTERVAL_US = 250

const counts = countStatements()
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US })

const tell = (answer: Answer): void => void process.send!(answer)
process.on('message', ({ ask }: Question) => {
  if (ask === 'statements') tell({ statements: Object.fromEntries(counts) })
  if (ask === 'record') session.post('Profiler.start', () => tell({}))
  if (ask === 'recorded') session.post('Profiler.stop', (_, { profile }) => tell({ profile }))
})

await import('../engine/product.ts')
