/**
 * The state machine of a tool call. Its life, without what may go wrong:
 *
 *             allowed              it leaves, and               its result is there
 *   proposed ---------> ready --+--> sent       a tool works ------+--> settled
 *    |    ^                     +--> delegated  a sub-agent works -|
 *    |    | approved            +--> asking     a parent's model --|
 *    v    |                     +--> listening  the user ----------|
 *   awaiting  a person decides  '--> waiting    a time, a signal --'
 *
 *   sent --> awaiting   its server asks a person first, and gets the call again with the answer
 *   sent --> waiting    its tool has accepted the call, and reports the end later
 *   sent --> retrying   it cannot be made now, because what it needs is out of reach
 *   sent --> unknown    nobody knows whether it was made: a person says so
 *
 * All moves, from the state of a row to that of a column: `o` in the life of a run, `r` only when an ended run is resumed.
 *
 *              proposed  ready  awaiting  sent  retrying  unknown  waiting  delegated  listening  asking  settled
 *   proposed       r       o        o                        o                                               o
 *   ready          o                o       o                o        o         o          o         o       o
 *   awaiting       o                o                        r                                               o
 *   sent           r       o        o       o       o        o        o                                      o
 *   retrying       o       o                        o        o                                               o
 *   unknown        o       o        o               o        r        o                                      o
 *   waiting        r                o                        o        r                                      o
 *   delegated                                                                   r                            o
 *   listening      r                                                                                         o
 *   asking                          o                                                                r       o
 *   settled        r                                         r                                               r
 *
 * A run that ends leaves its calls in the state in which they are, for a resumption; only their records say how they ended.
 */
import type { CallState } from '../../spec/run/run.ts'

type CallStateName = CallState['at']

/** All moves of a call, and why each exists. A move to the same state is one to other data: another task, another time. */
export const callMoves: {
  readonly [From in CallStateName]: { readonly [To in CallStateName]?: string }
} = {
  proposed: {
    ready: 'The policies allow it, or it has the approval that they want. Tools of the engine need neither.',
    awaiting: 'The policies want a person to decide it.',
    settled:
      'It is refused, or gets an earlier result; a fork took its result over; a late report ends an earlier attempt.',
    unknown: 'An earlier attempt may have been made, and now it is denied, or its tool has forgotten its key.',
    proposed: 'Resumed: it is authorized anew, since an approval does not outlast the end of its run.',
  },
  ready: {
    sent: 'Its dispatch is recorded, before it leaves.',
    delegated: 'Its sub-agent is started, or got the answer to its question.',
    asking: 'The parent gets its question.',
    listening: 'The user is asked to reply.',
    waiting: 'It waits for a time or a signal, as its model wanted.',
    awaiting: 'A person is asked for input, or to decide a call that nothing handles here.',
    proposed:
      'What allowed it may no longer hold: a pause ended, an authority, another call took its key, another version.',
    unknown: 'An earlier attempt may have been made, and its tool has forgotten its key, or nothing handles it here.',
    settled: 'It needs no dispatch, or cannot have one; a late report ends an earlier attempt.',
  },
  awaiting: {
    proposed:
      'It is approved, or its server has its answers, and it is authorized again right before it leaves; another version asks again.',
    awaiting: 'Nobody answered in time, and another task asks an operator; its server has another question.',
    settled: 'It is rejected, or answered; a late report ends an earlier attempt.',
    unknown: 'Resumed: an earlier attempt may have been made.',
  },
  sent: {
    settled: 'It has its outcome, or was certainly not made.',
    waiting: 'Its tool accepted it and reports the end later.',
    retrying: 'What it needs is out of reach.',
    ready: 'It did not leave, or is repeated, since that does no harm; its server wants it again.',
    awaiting: 'Its server asks a person first; it was not carried out, and a policy says who decides what then.',
    sent: 'Its server asks a person while it is under way, or has the answer.',
    unknown: 'It may have been made, and must not be repeated.',
    proposed: 'Resumed: it was not made, or is repeated, after it was authorized again.',
  },
  retrying: {
    ready: 'Its next attempt is due.',
    proposed: 'It was held so long that it is authorized again; another version decides it; an operator resumes it.',
    retrying: 'What it needs is still out of reach, as another attempt has found.',
    unknown: 'An earlier attempt may have been made, and its tool has forgotten its key.',
    settled: 'A late report ends an earlier attempt.',
  },
  unknown: {
    settled: 'A person says what became of it, or its outcome arrives after all.',
    proposed: 'A person says that it did not happen, so it is authorized and sent again.',
    ready: 'Its process reports after all that it did not leave.',
    waiting: 'Its process reports after all that its tool accepted it.',
    retrying: 'Its process reports after all that what it needs is out of reach.',
    awaiting:
      'Its process reports after all that its server asks a person, or that nothing handles it, and a policy says who decides.',
    unknown: 'Resumed: the person is asked again, with the choices of a run that goes on.',
  },
  waiting: {
    settled: 'The time has come, the signal or the report.',
    unknown: 'Nobody reported its end in time.',
    awaiting: 'Nobody reported its end in time, and a policy says who decides what then.',
    waiting: 'Resumed: it waits until the same time.',
    proposed: 'Resumed: it was not made, or is repeated, after it was authorized again.',
  },
  delegated: {
    settled: 'Its sub-agent has ended, or asks a question.',
    delegated: 'Resumed: its sub-agent is resumed too, or its end settles the call.',
  },
  listening: {
    settled: 'The user has replied.',
    proposed: 'Resumed: the user is asked again.',
  },
  asking: {
    settled: "The parent's model has answered.",
    awaiting: 'An operator answers instead.',
    asking: 'Resumed: the parent is resumed too, and answers.',
  },
  settled: {
    settled: 'Resumed: the refusal stays, and the run goes on.',
    proposed: 'Resumed: it was held for too long and never made.',
    unknown: 'Resumed: a person had stopped the run over its unknown outcome.',
  },
}
