/** Commands that evaluate agents over datasets. */
import type { CommandEntry } from '../shell/command.ts'
import { evalAnswer, evalFromRunsAnswer } from '../answers/eval.ts'
import { printsAnswer, printsDocument } from '../answers/prints.ts'

export const evalCommands: readonly CommandEntry[] = [
  {
    path: 'eval',
    plane: 'offline',
    drains: true,
    summary: 'evaluate an agent over a dataset: facts, and a judging model',
    arguments: [{ name: '<dataset>', description: 'JSONL: a line {"input": {…}, "checks": […]} for each case' }],
    options: [
      { flags: '--agent <agent>', description: 'agent of cases that name none; the root of the project by default' },
      {
        flags: '--against <version>',
        description: 'compare with a published version (acme.desk@1.0.0) or a git revision (HEAD~1)',
      },
      {
        flags: '--fail-on <what>',
        description: 'exit 1 when there is any; failed by default',
        choices: ['failed', 'worse', 'decisions', 'nothing'],
        many: true,
      },
      {
        flags: '--at-least <percent>',
        description: 'for --fail-on failed: how many of the runs pass; 100 by default',
      },
      {
        flags: '--format <format>',
        description: 'output format; markdown is a part of the comment of a review',
        choices: ['text', 'markdown'],
      },
      {
        flags: '--keep',
        description: 'leave the result on the server, for the console and svc eval list: no contents',
      },
      { flags: '--junit <file>', description: 'also write the cases as JUnit XML' },
      { flags: '--repeat <n>', description: 'play each case so often, with each version; once by default' },
      {
        flags: '--max-cost <amount>',
        description: 'begin no further run once models have cost so much (5.00 USD); the rest is undecided',
      },
      { flags: '--jobs <n>', description: 'runs at work at once; 4 by default' },
      { flags: '--case-timeout <duration>', description: 'how long one run may take; 5m by default' },
    ],
    examples: [
      'svc eval evals/refunds.jsonl',
      'svc eval evals/refunds.jsonl --against HEAD~1 --fail-on worse --fail-on decisions',
      'svc eval evals/refunds.jsonl --at-least 95 --junit evals.xml',
      'svc eval evals/refunds.jsonl --repeat 5 --max-cost "5.00 USD" --at-least 90',
      'svc eval evals/refunds.jsonl --against HEAD~1 --keep',
    ],
    ...printsDocument(evalAnswer),
    exits: { 1: 'a run did not pass, or what --fail-on names', 2: 'the dataset has no case, or broken lines' },
    load: async () => (await import('../commands/author/eval.ts')).evaluate,
  },
  {
    path: 'eval list',
    plane: 'operator',
    summary: 'evaluations that were kept, newest first',
    options: [
      { flags: '--agent <agent>', description: 'of this agent' },
      { flags: '--limit <n>', description: 'at most this many; 20 by default' },
    ],
    examples: ['svc eval list', 'svc eval list --agent acme.refund-desk --json'],
    ...printsAnswer('GET /evals'),
    load: async () => (await import('../commands/author/eval-list.ts')).evalList,
  },
  {
    path: 'eval from-runs',
    plane: 'operator',
    summary: 'make a dataset from runs, with the answers of their tools and people',
    options: [
      { flags: '--agent <agent>', description: 'of this agent' },
      { flags: '--since <time>', description: 'started since this time: 7d, 2026-11-20' },
      { flags: '--limit <n>', description: 'the newest so many; 100 by default' },
      { flags: '--out <file>', description: 'file to write; standard output by default' },
    ],
    examples: [
      'svc eval from-runs --agent acme.refund-desk --out evals/refunds.jsonl',
      'svc eval from-runs --agent acme.refund-desk --since 7d --limit 500 --out week.jsonl',
    ],
    ...printsDocument(evalFromRunsAnswer),
    exits: { 5: 'no such agent, or no run to take' },
    load: async () => (await import('../commands/author/eval-from-runs.ts')).evalFromRuns,
  },
]
