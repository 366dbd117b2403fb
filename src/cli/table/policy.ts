/** Commands that test, evaluate, prove and explain policies. */
import type { CommandEntry } from '../shell/command.ts'
import {
  backtestAnswer,
  explainReference,
  explainRun,
  explainedTask,
  policyCanAnswer,
  policyEvalAnswer,
  policyTestAnswer,
} from '../answers/author.ts'
import { printsAnswer, printsCases, printsDocument } from '../answers/prints.ts'

export const policyCommands: readonly CommandEntry[] = [
  {
    path: 'policy test',
    plane: 'offline',
    summary: 'run the table tests of policies',
    arguments: [{ name: '[paths...]', description: '*.policytest.yaml or directories; the project by default' }],
    options: [
      { flags: '--coverage [min]', description: 'print the coverage; exit 1 below this percentage', preset: '0' },
      { flags: '--filter <text>', description: 'only calls whose file or name has this text' },
      { flags: '--format <format>', description: 'output format', choices: ['text', 'json', 'junit', 'tap'] },
      { flags: '--update', description: 'write the actual decisions into the tests' },
      { flags: '--watch', description: 'run again on every save' },
    ],
    examples: ['svc policy test', 'svc policy test --coverage 90', 'svc policy test --filter boundary --format junit'],
    ...printsDocument(policyTestAnswer),
    exits: {
      1: 'a test failed, or coverage below --coverage',
      2: '--filter matches no test',
      5: 'no test found',
    },
    load: async () => (await import('../commands/author/policy-test.ts')).policyTest,
  },
  {
    path: 'policy eval',
    plane: 'offline',
    summary: 'decide one hypothetical call',
    options: [
      { flags: '--agent <agent>', description: 'namespace.name or manifest; the root of the bundle by default' },
      { flags: '--tool <tool>', description: 'logical id or wire name (required)' },
      { flags: '--args <json>', description: 'arguments: JSON, @FILE or -' },
      {
        flags: '--context <json>',
        description: 'tool, agent, run, session, principal, svc, history, time: JSON, @FILE or -',
      },
      { flags: '--policy <file>', description: 'add this policy; without --agent, use only such policies', many: true },
      {
        flags: '--expect <decision>',
        description: 'exit 1 unless this is the decision',
        choices: ['allow', 'deny', 'require_approval', 'escalate'],
      },
      { flags: '--explain', description: 'show each policy with the values it saw' },
    ],
    examples: [
      'svc policy eval --tool acme.refunds --args @call.json --explain',
      'svc policy eval --tool acme.refunds --args - --expect deny',
      'svc policy eval --tool acme.refunds --args @call.json --policy policies/refund-limit.yaml',
    ],
    ...printsDocument(policyEvalAnswer),
    exits: { 1: '--expect differs, or errors in the documents', 5: 'no such agent, tool or policy' },
    load: async () => (await import('../commands/author/policy-eval.ts')).policyEval,
  },
  {
    path: 'policy can',
    plane: 'offline',
    summary: 'prove that no call of a tool can pass, or show one that does',
    arguments: [
      { name: '<agent>', description: 'namespace.name or manifest' },
      { name: '<tool>', description: 'logical id or wire name' },
    ],
    options: [
      { flags: '--unattended', description: 'pass without a person' },
      { flags: '--where <expression>', description: 'among the calls for which this condition holds' },
      {
        flags: '--expect <answer>',
        description: 'exit 1 unless this is the answer',
        choices: ['never', 'yes', 'not_proven'],
      },
    ],
    examples: [
      'svc policy can acme.refund-desk acme.refunds',
      `svc policy can acme.refund-desk acme.refunds --unattended --where 'args.amount > 100' --expect never`,
    ],
    ...printsDocument(policyCanAnswer),
    exits: { 1: '--expect differs, or errors in the documents', 5: 'no such agent or tool' },
    load: async () => (await import('../commands/author/policy-can.ts')).policyCan,
  },
  {
    path: 'policy explain',
    plane: 'operator',
    summary: 'why a call was decided, or which policies apply to a tool',
    arguments: [{ name: '<ref>', description: 'task, run, tool or policy' }],
    options: [
      {
        flags: '--args <json>',
        description: 'decide the call of a task again with these; JSON, @file or -; nothing is sent',
      },
    ],
    examples: [
      'svc policy explain @last',
      'svc policy explain 9c1e77',
      `svc policy explain 9c1e77 --args '{"amount":90}'`,
      'svc policy explain acme.refunds',
    ],
    ...printsCases({ task: explainedTask, run: explainRun, 'tool or policy': explainReference }),
    exits: { 5: 'no such run, task, tool or policy, or nothing was decided' },
    load: async () => (await import('../commands/author/policy-explain.ts')).policyExplain,
  },
  {
    path: 'policy backtest',
    plane: 'operator',
    summary: 'recorded calls that other policies would decide differently',
    options: [
      {
        flags: '--policies <path>',
        description: 'a bundle, or Policy documents that replace those of their name (required)',
        many: true,
      },
      { flags: '--since <time>', description: 'calls since 10m, 2026-11-20 or RFC 3339' },
      { flags: '--agent <agent>', description: 'calls of this agent only' },
    ],
    examples: [
      'svc policy backtest --policies policies/refund-limit.yaml',
      'svc policy backtest --since 7d --policies . --json',
    ],
    ...printsDocument(backtestAnswer),
    exits: { 5: 'no such agent or policy' },
    load: async () => (await import('../commands/author/policy-backtest.ts')).policyBacktest,
  },
  {
    path: 'policy revoke',
    plane: 'operator',
    summary: 'end a standing authority at once, for running and waiting runs too',
    arguments: [{ name: '<name>', description: 'svc/standing of the grant' }],
    options: [
      { flags: '--reason <text>', description: 'why; it is recorded' },
      { flags: '--undo', description: 'restore it' },
    ],
    examples: [
      'svc policy revoke small-refunds --reason "fraud wave"',
      'svc policy revoke small-refunds --undo --reason "the wave is over"',
    ],
    ...printsAnswer('POST /policies/revoke'),
    exits: { 5: 'no such standing authority' },
    load: async () => (await import('../commands/author/policy-revoke.ts')).policyRevoke,
  },
]
