/** Ways to continue a run; `svc help continue` says which when. */
import type { CommandEntry } from '../shell/command.ts'
import { dryForksAnswer, migratedRuns, runAnswer, steeredRuns } from '../answers/drive.ts'
import { printsAnswer, printsCases, printsDocument } from '../answers/prints.ts'
import { answerSchema } from '../../operations/operations.ts'
import { apiBody } from '../../operations/schema.ts'
import { undoneRuns } from '../answers/steer.ts'
import { metadataOption } from './shared.ts'

export const continueCommands: readonly CommandEntry[] = [
  {
    path: 'send',
    plane: 'client',
    summary: 'reply to a run that waits for text, or continue a completed one',
    arguments: [
      { name: '<run>', description: 'id, unique ending, @last or @waiting' },
      { name: '[text]', description: 'the reply; - reads standard input' },
    ],
    options: [
      { flags: '-a, --attach <file>', description: 'upload a file and send it along', many: true },
      metadataOption,
      { flags: '--path <path>', description: 'route to use', choices: ['input', 'messages'] },
      { flags: '--steer', description: 'to a run that works: its next completion takes the text up' },
      { flags: '--interrupt', description: 'replace the present completion of a working run' },
      { flags: '-f, --follow', description: 'follow the run afterwards' },
    ],
    examples: [
      'svc send @waiting "Yes, the blue one please"',
      'svc send @waiting - -f',
      'svc send @last --steer "Use the account of the branch"',
    ],
    ...printsCases({
      'body of POST /v1/runs/{runId}/messages': apiBody('MessageAccepted'),
      'of a completed run': apiBody('StartRunResponse'),
      'with --follow': runAnswer,
    }),
    exits: { 5: 'no such run', 6: 'the run does not wait for a reply, or does not work' },
    drains: true,
    load: async () => (await import('../commands/drive/send.ts')).send,
  },
  {
    path: 'runs resume',
    plane: 'operator',
    summary: 'continue failed, cancelled or held runs where they stopped',
    arguments: [{ name: '<runs...>', description: 'ids, unique endings or @last' }],
    options: [
      { flags: '--with-version <version>', description: 'continue with this version of the agent' },
      { flags: '--allow-widen', description: 'also with a version that may do more' },
      { flags: '--allow-yanked', description: 'also with a version that is yanked' },
      { flags: '--grant', description: 'grant the limit that ended the run once more' },
      { flags: '--reason <text>', description: 'kept with the run' },
    ],
    examples: [
      'svc runs resume @last',
      'svc runs resume 77d0c4 --with-version 1.4.1 --reason "the prompt was mended"',
      'svc runs resume @last --grant --json',
    ],
    ...printsDocument(steeredRuns),
    exits: {
      2: 'the version may do more, or is yanked',
      5: 'no such run or version',
      6: 'nothing to resume',
      7: 'a limit is reached',
    },
    load: async () => (await import('../commands/drive/resume.ts')).runsResume,
  },
  {
    path: 'runs retry',
    plane: 'operator',
    summary: 'start a run again, as a new run that names the old one',
    arguments: [{ name: '<run>', description: 'id, unique ending or @last' }],
    examples: ['svc runs retry @last', 'svc runs retry 77d0c4 --json'],
    ...printsAnswer('POST /runs/:id/retry'),
    exits: { 5: 'no such run', 6: 'the run has not ended' },
    load: async () => (await import('../commands/drive/resume.ts')).runsRetry,
  },
  {
    path: 'runs fork',
    plane: 'operator',
    summary: 'start runs with the first steps of others; --dry only shows the result',
    arguments: [{ name: '[runs...]', description: 'ids, unique endings or @last' }],
    options: [
      { flags: '--at <step>', description: 'ordinal of the last step to take over; svc runs steps lists them' },
      {
        flags: '--edit <step=text>',
        description: 'replace the content of a step: 3=text, or 5:=json for the result of a call',
        many: true,
      },
      { flags: '--version <version>', description: "this version of the agent; the run's own by default" },
      { flags: '--idempotency-key <key>', description: 'a second fork with the same key returns the first' },
      { flags: '--dry', description: 'ask the model, play tools and people from the recording, and store nothing' },
      { flags: '--agent <agent>', description: 'with --dry: the 50 newest ended runs of this agent' },
      { flags: '--allow-widen', description: 'also with a version that may do more' },
      { flags: '--allow-yanked', description: 'also with a version that is yanked' },
    ],
    examples: [
      'svc runs fork @last --at 3 --edit 3="refund 20 instead"',
      'svc runs fork 77d0c4 b1a2f9 --at 1 --version 1.5.0 --dry',
      'svc runs fork --agent acme.refund-desk --at 1 --version 1.5.0 --dry',
      'svc runs fork @last --at 1 --version 1.5.0 --dry --json',
    ],
    ...printsCases({ '': steeredRuns, 'with --dry': dryForksAnswer }),
    exits: { 2: 'the version may do more, or is yanked', 5: 'no such run, step or version', 6: 'not at this step' },
    load: async () => (await import('../commands/drive/fork.ts')).runsFork,
  },
  {
    path: 'runs migrate',
    plane: 'operator',
    summary: 'move waiting runs to a version with equal or tighter authority',
    arguments: [{ name: '[runs...]', description: 'ids, unique endings or @last' }],
    options: [
      { flags: '--to <version>', description: 'version of the agent: 1.4.1' },
      { flags: '--agent <agent>', description: 'all waiting runs of this agent' },
      { flags: '--reason <text>', description: 'kept with the run' },
    ],
    examples: ['svc runs migrate @last --to 1.4.1', 'svc runs migrate --agent acme.refund-desk --to 1.4.1 --json'],
    ...printsDocument(migratedRuns),
    exits: {
      2: 'the version may do more, or is yanked',
      5: 'no such run, agent or version',
      6: 'something of a run is under way',
    },
    load: async () => (await import('../commands/steer/migrate.ts')).runsMigrate,
  },
  {
    path: 'runs undo',
    plane: 'operator',
    summary: 'undo the calls of an ended run, newest first; --plan only shows them',
    arguments: [{ name: '<run>', description: 'id, unique ending or @last' }],
    options: [
      {
        flags: '--plan',
        description: 'show what can be undone, by which call, and the decision of the policies; undo nothing',
      },
      { flags: '--reason <text>', description: 'why; it is recorded' },
    ],
    examples: [
      'svc runs undo @last --plan',
      'svc runs undo 77d0c4 --reason "the customer withdrew"',
      'svc runs undo 77d0c4 --yes --json',
    ],
    ...printsCases({ '': undoneRuns, 'with --plan': answerSchema('GET /runs/:id/undo') }),
    exits: {
      1: 'a call was not undone; those before it are left',
      2: 'no terminal to ask on, and no --yes',
      3: 'waiting for a person',
      5: 'no such run',
      6: 'the run continues, or nothing of it can be undone',
      8: 'the server ended meanwhile',
      9: 'held: what it needs cannot be reached',
    },
    load: async () => (await import('../commands/steer/undo.ts')).runsUndo,
  },
]
