/** Refused answers to a run: `error` and `code` of a 202 body. */
import { EXIT, type FailureRow } from './failure-row.ts'

export const answerFailures = {
  task_not_found: { exit: EXIT.absent, message: () => 'The run has no such user task.' },
  task_already_completed: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The user task is no longer pending.',
  },
  operator_only: { exit: EXIT.denied, message: () => 'Only an operator can complete this user task.' },
  invalid_value: { exit: EXIT.conflict, message: (a: { what: string }) => a.what },
  acknowledgement_required: {
    exit: EXIT.conflict,
    message: () => 'This approval needs metadata["svc/acknowledged"]: true.',
  },
  run_not_waiting: {
    exit: EXIT.conflict,
    message: (a: { status: string }) => `The run does not wait for a reply; its status is ${a.status}.`,
    fix: 'svc send RUN TEXT --steer reaches a run that works; svc inbox shows tasks that wait for an answer.',
  },
  run_not_working: {
    exit: EXIT.conflict,
    message: (a: { status: string }) => `The run is not working; its status is ${a.status}.`,
    fix: 'Answer what it waits for, or start a run.',
  },
  steering_full: {
    exit: EXIT.conflict,
    message: (a: { most: number }) => `${a.most} messages already wait for the run's next completion.`,
    fix: 'Send it after that completion.',
  },
  signal_not_awaited: {
    exit: EXIT.conflict,
    message: (a: { name: string }) => `The run does not wait for the signal ${a.name}; nothing has changed.`,
    fix: 'svc runs conversation RUN shows what it waits for, and by which name.',
  },
  completion_not_found: {
    status: 404,
    exit: EXIT.absent,
    message: () => 'No call waits for this token.',
  },
  completion_used: {
    status: 409,
    exit: EXIT.conflict,
    message: () => 'The call of this token has already ended with another report; nothing has changed.',
  },
  arguments_changed: {
    exit: EXIT.conflict,
    message: (a: { reviewed: string; now: string }) =>
      `The arguments changed since they were reviewed (${a.reviewed} → ${a.now}).`,
    fix: 'Look at the task again, then answer.',
  },
  digest_required: {
    exit: EXIT.conflict,
    message: () =>
      'This approval needs metadata["svc/arguments_digest"]: the arguments were edited, or several people approve them.',
    fix: 'Look at the task again, then send the digest of the arguments that it shows.',
  },
  not_in_bulk: {
    exit: EXIT.conflict,
    message: (a: { why: string }) => `This task is not approved together with others: ${a.why}.`,
    fix: 'Decide it alone: svc approve TASK, or its card.',
  },
  proof_required: {
    exit: EXIT.denied,
    message: (a: { needed: string; given: string }) =>
      `An approval of this task takes ${a.needed}, and this one came with ${a.given}.`,
    fix: 'Approve it in the console.',
  },
  not_an_approver: {
    exit: EXIT.denied,
    message: (a: { why: string }) => `This approver may not decide this task: ${a.why}.`,
  },
} satisfies Record<string, FailureRow>
