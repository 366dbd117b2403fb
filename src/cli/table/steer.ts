/** Commands that act on what runs are about to do, and on what they have done outside. */
import type { CommandEntry } from '../shell/command.ts'
import { printsAnswer, printsCases, printsDocument } from '../answers/prints.ts'
import { answerSchema } from '../../operations/operations.ts'
import { apiBody } from '../../operations/schema.ts'

export const steerCommands: readonly CommandEntry[] = [
  {
    path: 'stop',
    plane: 'operator',
    summary: 'stop all new effects of an agent, a tool, a provider or everything',
    options: [
      { flags: '--all', description: 'of anything: the kill switch' },
      { flags: '--agent <agent>', description: 'of this agent, and of what works below it' },
      { flags: '--version <version>', description: 'of one version: acme.refund-desk@1.2.0' },
      { flags: '--tool <tool>', description: 'of this tool' },
      { flags: '--provider <provider>', description: 'of the models of this provider' },
      { flags: '--resume', description: 'end the pause' },
      { flags: '--reason <text>', description: 'why; it is recorded' },
      { flags: '--list', description: 'list what is paused, by whom and why' },
    ],
    examples: [
      'svc stop --all --reason "the bank called"',
      'svc stop --tool acme.refunds',
      'svc stop --all --resume --json',
    ],
    ...printsCases({ '': answerSchema('POST /pauses'), 'with --list': answerSchema('GET /pauses') }),
    exits: { 5: 'nothing has this name' },
    load: async () => (await import('../commands/steer/pause.ts')).stop,
  },
  {
    path: 'signal',
    plane: 'client',
    summary: 'send a signal that a run waits for',
    arguments: [
      { name: '<run>', description: 'id, unique ending, @last or @waiting' },
      { name: '<name>', description: 'of the signal, as svc.wait_event names it' },
      { name: '[data]', description: 'JSON that matches the schema of the wait; also as --data JSON' },
    ],
    examples: [
      'svc signal @last parcel.delivered',
      'svc signal @last parcel.delivered --data \'{"parcel":"P-7"}\' --json',
    ],
    ...printsDocument(apiBody('MessageAccepted')),
    exits: { 5: 'no such run', 6: 'the run does not wait for it, or the data does not match' },
    load: async () => (await import('../commands/steer/outside.ts')).signal,
  },
  {
    path: 'complete',
    plane: 'client',
    summary: 'report the end of a call that waits for work outside',
    arguments: [{ name: '<token>', description: 'given to the tool with the call' }],
    options: [
      { flags: '--result <json>', description: 'the result of the call; null when absent' },
      { flags: '--error <text>', description: 'why it failed' },
    ],
    examples: [
      'svc complete svcc_Zk3vV0b9 --result \'{"rows":1200}\'',
      'svc complete svcc_Zk3vV0b9 --error "the disk is full"',
    ],
    ...printsDocument(apiBody('CompletionAccepted')),
    exits: { 5: 'no call waits for the token', 6: 'another report has ended the call' },
    load: async () => (await import('../commands/steer/outside.ts')).complete,
  },
  {
    path: 'effects list',
    plane: 'operator',
    summary: 'effect keys that are held, and by which call',
    options: [
      { flags: '--all', description: 'also calls that hold their key no longer' },
      { flags: '--since <time>', description: '7d, 2026-11-20 or RFC 3339' },
    ],
    examples: ['svc effects list', 'svc effects list --all --since 7d --json'],
    ...printsAnswer('GET /effects'),
    load: async () => (await import('../commands/operate/effects.ts')).effectsList,
  },
  {
    path: 'effects show',
    plane: 'operator',
    summary: 'every call that took one effect key',
    arguments: [{ name: '<key>', description: 'refund:A-1042, or the digest of a long one' }],
    examples: ['svc effects show refund:A-1042', 'svc effects show refund:A-1042 --json'],
    ...printsAnswer('GET /effects'),
    exits: { 5: 'no call took the key' },
    load: async () => (await import('../commands/operate/effects.ts')).effectsShow,
  },
  {
    path: 'effects release',
    plane: 'operator',
    summary: 'let an effect happen again; the reason is recorded',
    arguments: [{ name: '<key>', description: 'refund:A-1042, or the digest of a long one' }],
    options: [{ flags: '--reason <text>', description: 'why it may happen again' }],
    examples: [
      'svc effects release refund:A-1042 --reason "the bank sent it back"',
      'svc effects release refund:A-1042 --reason "booked on the wrong order" --json',
    ],
    ...printsAnswer('POST /effects/release'),
    exits: { 5: 'no call holds the key', 6: 'the call is under way' },
    load: async () => (await import('../commands/operate/effects.ts')).effectsRelease,
  },
]
