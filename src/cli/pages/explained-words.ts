/** Words of policies and tasks that `svc explain` explains in a sentence. */
import type { API_TASK_KINDS, OPERATOR_TASK_KINDS } from '../../spec/task.ts'

/** Decisions of policies. Source: docs/design/policies.md#the-decision */
export const DECISION_WORDS: Readonly<Record<'allow' | 'deny' | 'require_approval' | 'escalate' | 'block', string>> = {
  allow: 'The call is sent, unless another policy or its side-effect class asks for more.',
  deny: 'The call is never sent; the model is told why.',
  require_approval: 'The call waits until as many people as the policy names have approved it: svc inbox.',
  escalate: 'The call waits for an operator; no API key can answer.',
  block: 'Treated as deny.',
}

type TaskKindWord = (typeof API_TASK_KINDS)[number] | (typeof OPERATOR_TASK_KINDS)[number]

/** Kinds of tasks. Source: docs/design/approvals.md#the-task */
export const TASK_KIND_WORDS: Readonly<Record<TaskKindWord, string>> = {
  approval: 'May this call be sent? svc approve TASK, or svc reject TASK --reason TEXT.',
  multi_option: 'One of several options: svc answer TASK OPTION.',
  text: 'A text: svc answer TASK TEXT.',
  number: 'A number: svc answer TASK NUMBER.',
  escalation: 'An operator decides about a call or a limit: svc approve TASK, or svc reject TASK --reason TEXT.',
  aitl_escalation: 'A sub-agent asked a question that its parent handed to a person: svc answer TASK --text TEXT.',
  anomaly_review:
    'A call was sent and nobody knows whether it happened: svc answer TASK --option happened, retry, skip or stop.',
}
