import type { Theme } from './theme.ts'

/** Stands before a policy that took effect: what it does to the call is seen without reading. */
export function decisionMark(theme: Theme, decision: string): string {
  if (decision === 'allow') return theme.ok('✔')
  return decision === 'deny' ? theme.bad('✖') : theme.waiting('●')
}
