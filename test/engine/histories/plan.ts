/** Plans of random histories: what is called, what people say, and where the process crashes. */
import fc from 'fast-check'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { SideEffectClass } from '../../../src/spec/document.ts'
import type { Crash } from '../crashing-process.ts'

export const CLASSES: Readonly<Record<string, SideEffectClass | undefined>> = {
  look: 'read_only',
  put: 'idempotent_write',
  post: 'non_idempotent_write',
  pay: 'irreversible_action',
  sign: 'non_idempotent_write',
  stamp: undefined,
  ship: 'non_idempotent_write',
  unpost: 'non_idempotent_write',
}
/** What an operator may have undone, and by what. */
export const UNDONE = { tool: 'post', by: 'unpost' }
/** Its calls end when somebody reports them. */
export const OUTSIDE = 'ship'
export const SAFE: ReadonlySet<string> = new Set(['look', 'put'])
/** Nothing of these happens before so many people have said so, by the version that decides; operators move runs to the second. */
export const GATED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  '1.0.0': { pay: 1, sign: 2, unpost: 1 },
  '1.0.1': { pay: 2, sign: 2, post: 1, unpost: 1 },
}

/** Arguments of what is no tool of a class. */
export const REPLIES: Readonly<Record<string, JsonObject>> = {
  child: { message: 'go' },
  ask_parent: { question: 'So?' },
  ask_user: { message: 'Where to?' },
  wait_event: { name: 'go', timeout: '2m' },
  wait_until: { after: '1m' },
}

export interface PlannedCall {
  readonly name: string
  /** True for one that says what another one may have said before. */
  readonly again: boolean
  /** Turns of the event loop until it has happened, and from then on until its answer is there. */
  readonly takes: number
  readonly answersAfter?: number
  readonly outcome: 'returned' | 'failed' | 'lost' | 'lost, then gone' | 'never arrived'
}

/** `lift` ends every pause. */
export interface PlannedAct {
  readonly round: number
  readonly turn: number
  readonly act:
    | 'pause all'
    | 'pause agent'
    | 'pause tool'
    | 'pause provider'
    | 'lift'
    | 'steer'
    | 'interrupt'
    | 'signal'
    | 'report'
    | 'migrate'
}

export interface HistoryPlan {
  readonly root: readonly (readonly PlannedCall[])[]
  readonly child: readonly PlannedCall[]
  /** What comes of one completion after the other, in the order in which they are asked for. */
  readonly completions: readonly ('answers' | 'busy' | 'breaks off' | 'falls silent')[]
  /** Tokens that the root and its children may use, and whether an operator is asked for more. */
  readonly budget: number | null
  readonly asks: boolean
  /** What people say to one task after the other, and whether a no to a gated call ends its run. */
  readonly people: readonly boolean[]
  readonly noIsFatal: boolean
  /** The round in which the run is cancelled, if it is still there. */
  readonly cancelled: number | null
  /** What operators and clients do meanwhile, in rounds and turns of the event loop. */
  readonly acts: readonly PlannedAct[]
  /** How often the session goes on with another root run after it ended. */
  readonly continues: number
  /** How often an operator lets a run go on that did not complete. */
  readonly resumes: number
  /** How often an operator has undone what an ended run made. */
  readonly undoes: number
  readonly crashes: readonly Crash[]
}

const callOf = (...others: string[]): fc.Arbitrary<PlannedCall> =>
  fc.record({
    name: fc.constantFrom(...Object.keys(CLASSES), ...others),
    again: fc.boolean(),
    takes: fc.integer({ min: 0, max: 6 }),
    outcome: fc.constantFrom(
      'returned',
      'returned',
      'returned',
      'returned',
      'failed',
      'lost',
      'lost, then gone',
      'never arrived',
    ),
  })
/** A value in a third of all plans. */
const sometimes = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value })
export const anyPlan: fc.Arbitrary<HistoryPlan> = fc.record({
  root: fc.array(
    fc.array(callOf('child', 'child', 'ask_user', 'wait_event', 'wait_until'), { minLength: 1, maxLength: 3 }),
    {
      minLength: 1,
      maxLength: 3,
    },
  ),
  child: fc.array(callOf('ask_parent', 'ask_parent', 'ask_parent'), { maxLength: 2 }),
  completions: fc.array(fc.constantFrom('answers', 'answers', 'answers', 'busy', 'breaks off', 'falls silent'), {
    maxLength: 8,
  }),
  budget: sometimes(fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 200, max: 9000 }))),
  asks: fc.boolean(),
  people: fc.array(fc.boolean(), { maxLength: 6 }),
  noIsFatal: fc.boolean(),
  cancelled: sometimes(fc.integer({ min: 0, max: 6 })),
  acts: fc.array(
    fc.record({
      round: fc.integer({ min: 0, max: 12 }),
      turn: fc.integer({ min: 0, max: 20 }),
      act: fc.constantFrom(
        'pause all',
        'pause agent',
        'pause tool',
        'pause provider',
        'lift',
        'lift',
        'steer',
        'interrupt',
        'signal',
        'signal',
        'report',
        'report',
        'migrate',
        'migrate',
      ),
    }),
    { maxLength: 8 },
  ),
  continues: fc.constantFrom(0, 0, 1, 2),
  resumes: fc.constantFrom(0, 1, 3),
  undoes: fc.constantFrom(0, 0, 1, 2),
  crashes: fc.array(fc.record({ at: fc.integer({ min: 1, max: 60 }), after: fc.boolean() }), { maxLength: 3 }),
})

/** Longer than a round of a history takes. */
const LONG = 300
/** Plans in which a no ends a run while another call of it is in flight, and a child of it waits for a person. */
export const refusalPlan: fc.Arbitrary<HistoryPlan> = fc
  .tuple(anyPlan, callOf(), fc.constantFrom('pay', 'sign'), fc.constantFrom('pay', 'sign'))
  .map(([{ root, people, crashes }, call, gated, below]) => ({
    root: [
      [
        { ...call, answersAfter: LONG },
        { ...call, name: 'child' },
        { ...call, name: gated },
      ],
      ...root,
    ],
    child: [{ ...call, name: below }],
    completions: [],
    budget: null,
    asks: false,
    people: [...people, false],
    noIsFatal: true,
    cancelled: null,
    acts: [],
    continues: 0,
    resumes: 0,
    undoes: 0,
    crashes,
  }))
