/** Commands about whose signature counts. */
import type { CommandEntry } from '../shell/command.ts'
import { printsAnswer, printsDocument } from '../answers/prints.ts'
import { trustCheckAnswer, trustKeyAnswer, trustSignAnswer, verifySignedAnswer } from '../answers/trust.ts'
import { sign } from './shared.ts'

export const trustCommands: readonly CommandEntry[] = [
  {
    path: 'verify',
    plane: 'offline',
    summary: 'check who signed an archive or a version, and that it is still that',
    arguments: [{ name: '<what>', description: 'an archive, - for standard input, or namespace.name@version' }],
    options: [
      {
        flags: '--trust <file>',
        description: 'trust.yaml or its envelope; else trust.yaml of the project, else that of the server',
      },
    ],
    examples: ['svc verify refund.tgz --trust trust.yaml', 'svc verify acme.refund-desk@1.2.0 --json'],
    ...printsDocument(verifySignedAnswer),
    exits: { 1: 'a check failed: the first one is named', 5: 'no such file or version' },
    load: async () => (await import('../commands/ship/verify.ts')).verify,
  },
  {
    path: 'trust check',
    plane: 'offline',
    summary: 'find what in a trust document is expired, or does nothing',
    arguments: [{ name: '[file]', description: 'trust.yaml by default' }],
    examples: ['svc trust check', 'svc trust check trust.yaml --json'],
    ...printsDocument(trustCheckAnswer),
    exits: { 1: 'it cannot be read, or holds an error', 5: 'no such file' },
    load: async () => (await import('../commands/ship/trust.ts')).trustCheck,
  },
  {
    path: 'trust sign',
    plane: 'offline',
    summary: 'sign a trust document as one of its roots',
    arguments: [{ name: '[file]', description: 'trust.yaml by default' }],
    options: [sign, { flags: '-o, --output <file>', description: 'envelope; trust.dsse.json beside it by default' }],
    examples: ['svc trust sign', 'svc trust sign trust.yaml --sign ana.pem'],
    ...printsDocument(trustSignAnswer),
    exits: { 1: 'it cannot be read', 5: 'no such file' },
    load: async () => (await import('../commands/ship/trust.ts')).trustSign,
  },
  {
    path: 'trust install',
    plane: 'operator',
    summary: 'put a signed trust document in force at the server',
    arguments: [{ name: '[file]', description: 'envelope; trust.dsse.json by default' }],
    options: [{ flags: '--message <text>', description: 'why; shown in svc log acts' }],
    examples: ['svc trust install', 'svc trust install trust.dsse.json --message "bo joins"'],
    ...printsAnswer('POST /trust'),
    exits: { 4: 'too few roots signed it, or it is not newer', 5: 'no such file' },
    load: async () => (await import('../commands/ship/trust.ts')).trustInstall,
  },
  {
    path: 'trust show',
    plane: 'operator',
    summary: 'whose signature counts for what at the server',
    examples: ['svc trust show', 'svc trust show --json'],
    ...printsAnswer('GET /trust'),
    load: async () => (await import('../commands/ship/trust.ts')).trustShow,
  },
  {
    path: 'trust key',
    plane: 'offline',
    summary: 'print the public key of a signing key, for trust.yaml',
    arguments: [{ name: '[key]', description: 'OpenSSH or PEM; SVC_SIGN_KEY, else that of git by default' }],
    examples: ['svc trust key', 'svc trust key ana.pem'],
    ...printsDocument(trustKeyAnswer),
    exits: { 5: 'no such file' },
    load: async () => (await import('../commands/ship/trust.ts')).trustKey,
  },
]
