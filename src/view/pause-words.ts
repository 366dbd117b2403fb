/** Pauses in words: what is paused, since when, by whom and why. */
import { describePaused, type PauseTarget } from '../spec/steer/pause.ts'
import { describeApprover } from './task/task-people.ts'

/** `tool acme.refunds since TIME, by operator ana (the bank called)`. Not escaped. */
export const describePauseAct = (
  pause: PauseTarget & { readonly at: string; readonly by: string; readonly reason: string | null },
  showTime: (iso: string) => string = (iso) => iso,
): string =>
  `${describePaused(pause)} since ${showTime(pause.at)}, by ${describeApprover(pause.by)}${pause.reason === null ? '' : ` (${pause.reason})`}`
