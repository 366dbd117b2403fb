/** Three truths, each as an icon and a word. */
import type { Tone } from '../parts/badge.tsx'
import type { IconName } from '../parts/icon.tsx'

type Truth = 'true' | 'false' | 'unknown'

export const TRUTHS: Readonly<Record<Truth, readonly [Tone, IconName, string]>> = {
  true: ['waiting', 'check', 'true'],
  false: ['quiet', 'cross', 'false'],
  unknown: ['warn', 'warning', 'cannot be told'],
}

export const DECISIONS: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  allow: ['ok', 'check', 'allowed'],
  deny: ['bad', 'cross', 'denied'],
  require_approval: ['waiting', 'person', 'needs approval'],
  escalate: ['warn', 'bolt', 'escalated'],
}

/** From the loosest to the strictest. */
const STRICTNESS = ['allow', 'require_approval', 'escalate', 'deny']

/** True where a call could happen with less than before. */
export const isLooserDecision = (was: string, now: string): boolean => STRICTNESS.indexOf(now) < STRICTNESS.indexOf(was)
