import type { Theme } from './theme.ts'

/** Stands before a policy that took effect. A list that allows may stop a call, so that no tick stands before any. */
export function decisionMark(theme: Theme, decision: string): string {
  if (decision === 'deny') return theme.bad('✖')
  return decision === 'allow' ? theme.ok('●') : theme.waiting('●')
}
