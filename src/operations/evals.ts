/** Evaluations that `svc eval --keep` leaves on a server. Source: docs/design/evals.md#kept-evaluations */
import type { EvaluationCase, EvaluationReport, EvaluationSide } from '../spec/evaluation.ts'
import type { OperationTable } from './operation.ts'
import {
  boolean,
  bounded,
  described,
  integer,
  list,
  listAnswer,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  textUpTo,
  type TypedSchema,
  type ValueOf,
} from './schema.ts'
import { costSum, pageFields } from './shared.ts'

const outcome = oneOf('passed', 'failed', 'undecided')
const name = textUpTo(400)

export const evaluationSide: TypedSchema<EvaluationSide> = object({
  name,
  passed: integer,
  failed: integer,
  undecided: integer,
  flaky: described(
    optional(integer),
    'Cases of which some runs passed, and not all; absent where each was played once.',
  ),
  rate: described(
    nullable(object({ share: number, low: number, high: number })),
    'Share of the runs that passed, with its 95% interval (Wilson, for cases that are drawn); null without a case.',
  ),
  tokens: integer,
  cost: costSum,
})

/** Of the checks of a case, and of its decisions that a policy of now makes otherwise. */
export const MOST_OF_CASE = 20
export const MOST_CASES = 100

const evaluationCase: TypedSchema<EvaluationCase> = object({
  name,
  outcome,
  before: optional(outcome),
  passed: described(optional(integer), 'How many of its runs passed, where it was played several times.'),
  checks: described(bounded(list(name), { maxItems: MOST_OF_CASE }), 'Names of the checks that did not pass.'),
  flips: described(
    bounded(list(object({ tool: name, was: name, now: name, by: name })), { maxItems: MOST_OF_CASE }),
    'Decisions of the run before that the policies of now make otherwise: exact.',
  ),
})

const evaluationReport: TypedSchema<EvaluationReport> = object({
  dataset: textUpTo(1000),
  repeat: described(optional(integer), 'How often each case was played with each version; absent for once.'),
  now: evaluationSide,
  before: optional(evaluationSide),
  exact: optional(object({ decisions: integer, flips: integer })),
  isApart: described(optional(boolean), 'True if the intervals have no point in common.'),
  judge: optional(object({ provider: name, name, calls: integer })),
  cases: described(
    bounded(list(evaluationCase), { maxItems: MOST_CASES }),
    'Those that did not pass, changed, or are decided otherwise.',
  ),
  moreCases: described(integer, 'How many of these are not in the list.'),
})

const keptEvaluation = object({
  evaluationId: string,
  at: string,
  by: string,
  agent: described(string, 'Which most cases started.'),
  report: evaluationReport,
})
export type KeptEvaluationView = ValueOf<typeof keptEvaluation>

export const evaluationOperations = {
  'GET /evals': {
    about: 'Evaluations that were kept, newest first.',
    query: { agent: optional(string), ...pageFields },
    answer: listAnswer(keptEvaluation),
  },
  'POST /evals': {
    about: 'Keeps what an evaluation counted: no input, no output and no words of a run.',
    body: object({ agent: name, report: evaluationReport }),
    answer: keptEvaluation,
  },
} satisfies OperationTable
