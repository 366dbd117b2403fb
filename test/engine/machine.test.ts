import { expect, test } from 'vitest'
import type { RunEventType } from '../../src/engine/session/event.ts'
import { transitions } from '../../src/engine/machine/machine.ts'
import type { RunState } from '../../src/spec/run/run.ts'

const EVENTS: readonly RunEventType[] = [
  'started',
  'model.answered',
  'model.failed',
  'admitted',
  'called',
  'idle.due',
  'outdated',
  'call.ended',
  'child.ended',
  'child.asked',
  'question.answered',
  'task.closed',
  'message',
  'retry.due',
  'outage.over',
  'wall_clock.due',
  'hitl_wait.due',
  'exhausted',
  'woken',
  'stopped',
  'cancelled',
  'broken',
]

const LEGAL: Readonly<Record<RunState['at'], readonly RunEventType[]>> = {
  thinking: [
    'started',
    'model.answered',
    'model.failed',
    'admitted',
    'called',
    'idle.due',
    'outdated',
    'task.closed',
    'wall_clock.due',
    'hitl_wait.due',
    'woken',
    'stopped',
    'cancelled',
    'broken',
  ],
  backing_off: [
    'retry.due',
    'outage.over',
    'task.closed',
    'wall_clock.due',
    'hitl_wait.due',
    'woken',
    'cancelled',
    'broken',
  ],
  calling: [
    'admitted',
    'called',
    'call.ended',
    'retry.due',
    'outage.over',
    'child.ended',
    'child.asked',
    'question.answered',
    'task.closed',
    'message',
    'wall_clock.due',
    'hitl_wait.due',
    'exhausted',
    'woken',
    'stopped',
    'cancelled',
    'broken',
  ],
  held: ['task.closed', 'woken', 'cancelled', 'broken'],
  reviewing: ['task.closed', 'hitl_wait.due', 'woken', 'cancelled', 'broken'],
  done: ['call.ended', 'task.closed'],
}

const pairs = Object.entries(LEGAL).flatMap(([at, legal]) =>
  EVENTS.map((event) => [at as RunState['at'], event, legal.includes(event)] as const),
)

test.each(pairs)('a run that is %s and receives %s: the table has a transition: %s', (at, event, listed) => {
  expect(transitions[at][event] !== undefined).toBe(listed)
})
