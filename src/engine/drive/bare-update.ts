/** The least that ends a session: for one whose content the store refuses. */
import type { Session } from '../../spec/session.ts'
import type { SessionTree, SessionUpdate } from '../../store/session-update.ts'

/**
 * An update that ends all runs of a session, without the steps and calls that come with it: those that are stored stay as they are. Tasks
 * are kept, since people see them, and the events by which readers learn of the end.
 */
export function toBareUpdate(update: SessionUpdate, { session, runs }: SessionTree): SessionUpdate {
  const said = update.events.filter(({ kind }) => kind === 'run' || kind === 'session')
  const events = said.map((event, at) => ({ ...event, seq: session.lastSeq + at + 1 }))
  const counters: Pick<Session, 'lastSeq' | 'lastOrdinal' | 'output'> = {
    lastSeq: session.lastSeq + events.length,
    lastOrdinal: session.lastOrdinal,
    output: null,
  }
  return {
    ...update,
    session: { ...update.session, ...counters },
    runs: update.runs.map((run) => ({
      ...run,
      output: null,
      lastSequence: runs.find(({ id }) => id === run.id)?.lastSequence ?? 0,
    })),
    steps: [],
    closedSteps: [],
    calls: [],
    spends: [],
    events,
  }
}
