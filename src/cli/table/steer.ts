/** Commands that act on what runs did or are about to do. Source: command line, 2. */
import type { CommandEntry } from '../shell/command.ts'
import { runsAnswer, runView } from '../answers/drive.ts'
import { effectsAnswer, releasedEffect } from '../answers/operate.ts'
import { printsDocument } from '../answers/schema.ts'

export const steerCommands: readonly CommandEntry[] = [
  {
    path: 'runs resume',
    plane: 'operator',
    summary: 'let runs that failed, were cancelled or are held go on where they stopped',
    arguments: [{ name: '<runs...>', description: 'ids, unique endings or @last' }],
    options: [
      { flags: '--with-version <version>', description: 'go on with this version of the agent' },
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
    ...printsDocument(runsAnswer),
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
    summary: 'start a run again from the beginning, as a new run that names the old one',
    arguments: [{ name: '<run>', description: 'id, unique ending or @last' }],
    examples: ['svc runs retry @last', 'svc runs retry 77d0c4 --json'],
    ...printsDocument(runView),
    exits: { 5: 'no such run', 6: 'the run has not ended' },
    load: async () => (await import('../commands/drive/resume.ts')).runsRetry,
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
    ...printsDocument(effectsAnswer),
    load: async () => (await import('../commands/operate/effects.ts')).effectsList,
  },
  {
    path: 'effects show',
    plane: 'operator',
    summary: 'every call that took one effect key',
    arguments: [{ name: '<key>', description: 'refund:A-1042, or the digest of a long one' }],
    examples: ['svc effects show refund:A-1042', 'svc effects show refund:A-1042 --json'],
    ...printsDocument(effectsAnswer),
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
    ...printsDocument(releasedEffect),
    exits: { 5: 'no call holds the key', 6: 'the call is under way' },
    load: async () => (await import('../commands/operate/effects.ts')).effectsRelease,
  },
]
