/** Views of one run; `svc help views` says which when. */
import type { CommandEntry } from '../shell/command.ts'
import { wholeStep } from '../answers/drive.ts'
import { printsAnswer, printsBody, printsCases, printsLines } from '../answers/prints.ts'
import { answerSchema } from '../../operations/operations.ts'
import { apiBody } from '../../operations/schema.ts'
import { followOptions, followedAnswers, runEnds } from './shared.ts'

export const viewCommands: readonly CommandEntry[] = [
  {
    path: 'runs get',
    plane: 'client',
    summary: 'status and result of a run',
    arguments: [{ name: '<run>', description: 'id, unique ending, @last or @waiting' }],
    options: [
      {
        flags: '--wait <until>',
        description: 'until it is paused or has ended; --wait=terminal: has ended',
        choices: ['pause', 'terminal'],
        bare: 'pause',
      },
      { flags: '--exit-status', description: 'exit with a code for the status' },
    ],
    examples: ['svc runs get @last', 'svc runs get @last --wait --exit-status --json'],
    ...printsBody('RunStatus', 'GET /v1/runs/{runId}'),
    exits: { 1: 'failed or cancelled (--exit-status)', 3: 'waiting for a person (--exit-status)', 5: 'no such run' },
    load: async () => (await import('../commands/drive/runs.ts')).runsGet,
  },
  {
    path: 'runs watch',
    aliases: ['watch', 'tail'],
    plane: 'operator',
    summary: 'attach to a run: past events, then new ones',
    arguments: [
      { name: '[run]', description: 'id, unique ending, @last or @waiting; picked from a list on a terminal' },
    ],
    options: followOptions,
    examples: ['svc runs watch @last', 'svc runs watch @waiting --on-task wait'],
    ...printsCases(followedAnswers),
    exits: { ...runEnds, 5: 'no such run' },
    drains: true,
    load: async () => (await import('../commands/drive/runs.ts')).runsWatch,
  },
  {
    path: 'runs conversation',
    plane: 'client',
    summary: 'the timeline of a run and its sub-agents',
    arguments: [{ name: '<run>', description: 'id, unique ending, @last or @waiting' }],
    options: [
      {
        flags: '--step-content <how>',
        description: 'leave out ids that every step repeats',
        choices: ['full', 'slim'],
      },
      { flags: '--type <type>', description: 'steps of this type', many: true },
      { flags: '--since <ordinal>', description: 'steps after this one' },
      { flags: '--markdown', description: 'as Markdown' },
      { flags: '--html <file>', description: 'write one HTML page to this file' },
    ],
    examples: ['svc runs conversation @last', 'svc runs conversation @last --json --jq ".items[].type"'],
    ...printsBody('Conversation', 'GET /v1/runs/{runId}/conversation'),
    exits: { 5: 'no such run' },
    load: async () => (await import('../commands/drive/runs.ts')).runsConversation,
  },
  {
    path: 'runs steps',
    plane: 'operator',
    summary: 'the steps of a run and its sub-agents in one line each',
    arguments: [
      { name: '<run>', description: 'id, unique ending, @last or @waiting' },
      { name: '[ordinal]', description: 'this step, whole' },
    ],
    options: [{ flags: '--since <ordinal>', description: 'steps after this one' }],
    examples: ['svc runs steps @last', 'svc runs steps @last 17 --json'],
    ...printsCases({ '': answerSchema('GET /runs/:id/outline'), 'with an ordinal': wholeStep }),
    exits: { 5: 'no such run or step' },
    load: async () => (await import('../commands/drive/steps.ts')).runsSteps,
  },
  {
    path: 'runs calls',
    plane: 'operator',
    summary: 'the calls of a run: state, attempts, keys and effect keys',
    arguments: [{ name: '<run>', description: 'id, unique ending, @last or @waiting' }],
    examples: ['svc runs calls @last', 'svc runs calls @last --json'],
    ...printsAnswer('GET /runs/:id/calls'),
    exits: { 5: 'no such run' },
    load: async () => (await import('../commands/drive/calls.ts')).runsCalls,
  },
  {
    path: 'stream',
    plane: 'client',
    summary: 'the events of a run, one line of JSON each',
    arguments: [{ name: '<run>', description: 'id, unique ending, @last or @waiting' }],
    options: [
      { flags: '--pretty', description: 'readable lines instead of JSON' },
      {
        flags: '--kind <kind>',
        description: 'events of this kind',
        choices: ['step', 'session', 'run', 'user_task', 'aitl'],
        many: true,
      },
      { flags: '--subject <glob>', description: 'events whose subject matches, for example engine.step.*' },
      { flags: '--after <n>', description: 'events after this number' },
      { flags: '--until <subject>', description: 'end with this event' },
      {
        flags: '--forward-to <url>',
        description: 'post each event to this address instead of printing it, with retries',
      },
      { flags: '--no-reconnect', description: 'end when the connection is lost' },
    ],
    examples: ['svc stream @last', 'svc stream @last --kind user_task'],
    ...printsLines('a line for each event', apiBody('StreamEvent')),
    exits: { 5: 'no such run' },
    load: async () => (await import('../commands/drive/stream.ts')).stream,
  },
]
