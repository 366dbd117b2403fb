/** Commands that answer what runs ask. */
import type { CommandEntry, OptionSpec } from '../shell/command.ts'
import { claimedTasks, decidedTasks, inboxAnswer, inboxCount, receiptsAnswer } from '../answers/approve.ts'
import { printsCases, printsDocument } from '../answers/prints.ts'
import { inboxTask } from '../../operations/tasks.ts'
import { answerSchema } from '../../operations/operations.ts'
import { listFilters, metadataOption } from './shared.ts'

const as: OptionSpec = {
  flags: '--as <email>',
  description: 'the person who decides: refused unless your operator credential is theirs',
}
const ofRun: OptionSpec = { flags: '--run <run>', description: 'run of the task; needed with an API key' }

const answerExits = {
  4: 'not an approver',
  5: 'no such task',
  6: 'already decided, expired, or the arguments changed',
} as const

export const approveCommands: readonly CommandEntry[] = [
  {
    path: 'inbox',
    aliases: ['tasks'],
    plane: 'operator',
    summary: 'tasks that wait for a person, nearest deadline first',
    options: [
      ...listFilters,
      {
        flags: '--kind <kind>',
        description: 'of this kind',
        choices: [
          'approval',
          'multi_option',
          'text',
          'number',
          'escalation',
          'aitl_escalation',
          'anomaly_review',
          'reply',
        ],
      },
      { flags: '--operator', description: 'tasks that only an operator can complete' },
      { flags: '--all', description: 'include decided tasks' },
      { flags: '--mine', description: 'tasks on which I have not voted' },
      { flags: '--count', description: 'print only their number' },
      { flags: '--watch', description: 'keep running and show changes' },
    ],
    examples: ['svc inbox', 'svc inbox --count', 'svc inbox --json --jq ".items[].userTaskId"'],
    ...printsCases({ '': inboxAnswer, 'with --count': inboxCount, 'with --watch a line for each task': inboxTask }),
    load: async () => (await import('../commands/approve/inbox.ts')).inbox,
  },
  {
    path: 'claim',
    plane: 'operator',
    summary: 'tell others that you look at a task, for 15 minutes',
    arguments: [{ name: '<tasks...>', description: 'ids, unique endings or @waiting' }],
    options: [{ flags: '--leave', description: 'you do not look any more' }],
    examples: ['svc claim 9c1e77', 'svc claim 9c1e77 --leave', 'svc claim @waiting --json'],
    ...printsDocument(claimedTasks),
    exits: { 5: 'no such task', 6: 'already decided' },
    load: async () => (await import('../commands/approve/claim.ts')).claim,
  },
  {
    path: 'approve',
    plane: 'operator',
    summary: 'approve held calls',
    arguments: [{ name: '<tasks...>', description: 'ids, unique endings or @waiting' }],
    options: [
      {
        flags: '--edit <arguments>',
        description: 'run with these arguments, or take this output: JSON, @FILE, or editor to open yours',
      },
      { flags: '--note <text>', description: 'comment stored with the task' },
      { flags: '--ack', description: 'confirm that you understood what the policy requires' },
      { flags: '--args-digest <sha>', description: 'the arguments that were seen, so that nothing is shown or asked' },
      ofRun,
      as,
    ],
    examples: ['svc approve 9c1e77', 'svc approve @waiting --note "checked with the customer"'],
    ...printsDocument(decidedTasks),
    exits: answerExits,
    load: async () => (await import('../commands/approve/decide.ts')).approve,
  },
  {
    path: 'reject',
    plane: 'operator',
    summary: 'reject held calls',
    arguments: [{ name: '<tasks...>', description: 'ids, unique endings or @waiting' }],
    options: [
      { flags: '--reason <text>', description: 'sent to the model if the policy allows it' },
      { flags: '--no-reason', description: 'reject without a reason' },
      { flags: '--args-digest <sha>', description: 'refuse when the arguments are not the ones reviewed' },
      ofRun,
      as,
    ],
    examples: ['svc reject 9c1e77 --reason "customer already refunded"', 'svc reject @waiting --no-reason'],
    ...printsDocument(decidedTasks),
    exits: answerExits,
    load: async () => (await import('../commands/approve/decide.ts')).reject,
  },
  {
    path: 'answer',
    plane: 'operator',
    summary: 'answer a question: an option, a text or a number',
    arguments: [
      { name: '<task>', description: 'id, unique ending or @waiting' },
      { name: '[value]', description: 'read by the kind of the task; - reads standard input' },
    ],
    options: [
      { flags: '--option <id>', description: 'id, label or position of an option' },
      { flags: '--text <text>', description: 'a text' },
      { flags: '--number <n>', description: 'a number, with a point as decimal mark' },
      { flags: '--decline', description: 'say no to the question of a server' },
      { flags: '--cancel', description: 'close the question of a server without an answer' },
      { flags: '--probe', description: 'only check whether the call happened, with the probe tool of its author' },
      metadataOption,
      ofRun,
      as,
    ],
    examples: ['svc answer b7aa10 2', 'svc answer b7aa10 --probe', 'svc answer b7aa10 --option retry'],
    ...printsCases({ '': receiptsAnswer, 'with --probe': answerSchema('POST /tasks/:id/probe') }),
    exits: answerExits,
    load: async () => (await import('../commands/approve/answer.ts')).answer,
  },
]
