/** What `svc eval` and `svc eval from-runs` print. */
import {
  anyJson,
  boolean,
  described,
  integer,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
} from '../../operations/schema.ts'
import { evaluationSide } from '../../operations/evals.ts'
import { costSum } from '../../operations/shared.ts'

const outcome = oneOf('passed', 'failed', 'undecided')

const evalResult = {
  outcome,
  checks: list(
    object({
      check: string,
      isJudged: described(boolean, 'True for what a model judged, false for a fact.'),
      outcome,
      rubric: described(optional(string), 'Digest of the rubric by which it was judged.'),
      message: optional(string),
    }),
  ),
  run: described(
    nullable(object({ status: string, output: anyJson, tokens: integer, cost: costSum, seconds: number })),
    'Null where no run was started.',
  ),
  ms: integer,
}

const caseResult = {
  ...evalResult,
  samples: described(
    optional(list(object(evalResult))),
    'Each run, where the case was played several times: then more than half decide its outcome, and `checks` and `run` are those of the first that did not pass.',
  ),
}

export const evalAnswer = object({
  ok: boolean,
  dataset: string,
  repeat: described(optional(integer), 'How often each case was played with each version; absent for once.'),
  now: evaluationSide,
  before: optional(evaluationSide),
  changed: optional(integer),
  worse: described(optional(integer), 'Cases that passed before and do not pass now.'),
  isApart: described(optional(boolean), 'True if the intervals have no point in common.'),
  exact: described(
    optional(object({ decisions: integer, flips: integer, assumed: list(string) })),
    'Decisions of the runs before, and how many the policies of now make otherwise: no model was asked. `assumed` are history measures that had to be counted over the recorded calls.',
  ),
  judge: optional(object({ provider: string, name: string, calls: integer, cost: costSum, rubrics: list(string) })),
  broken: list(object({ line: integer, message: string })),
  unplayed: described(optional(integer), 'Cases that were not played, since the evaluation was interrupted.'),
  cases: list(
    object({
      name: string,
      line: integer,
      ...caseResult,
      before: optional(object(caseResult)),
      flips: optional(list(object({ tool: string, was: string, now: string, by: string }))),
    }),
  ),
})

export const evalFromRunsAnswer = object({
  cases: integer,
  file: string,
  skipped: list(object({ run: string, why: string })),
})
