/** States as an icon and a word: colour alone says nothing. */
import { safeText } from '../../base/text/escape-text.ts'
import type { View } from './view.ts'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'ok' | 'waiting' | 'bad' | 'warn' | 'live' | 'quiet'

export const Badge = ({
  tone,
  icon,
  text,
}: {
  readonly tone: Tone
  readonly icon?: IconName
  readonly text: string
}): View => (
  <span class={`badge ${tone}`}>
    {icon && <Icon name={icon} />}
    {text}
  </span>
)

const STATUSES: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  Running: ['live', 'dot', 'Running'],
  Completed: ['ok', 'check', 'Completed'],
  Failed: ['bad', 'cross', 'Failed'],
  Cancelled: ['bad', 'stop', 'Cancelled'],
  WaitingForHITL: ['waiting', 'person', 'Waits for a person'],
  WaitingForAITL: ['waiting', 'agents', 'Waits for an agent'],
  WaitingForResponse: ['waiting', 'message', 'Waits for a reply'],
}

export function StatusBadge({ status }: { readonly status: string }): View {
  const [tone, icon, text] = STATUSES[status] ?? (['quiet', 'dot', safeText(status)] as const)
  return <Badge tone={tone} icon={icon} text={text} />
}

/** The words of a side-effect class, as a card shows them. */
const CLASSES: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  irreversible_action: ['warn', 'bolt', 'Irreversible'],
  non_idempotent_write: ['waiting', 'pencil', 'Writes'],
  idempotent_write: ['quiet', 'pencil', 'Writes, repeatable'],
  read_only: ['quiet', 'search', 'Reads'],
}

export function EffectBadge({ effect }: { readonly effect: string }): View {
  const [tone, icon, text] = CLASSES[effect] ?? (['warn', 'bolt', 'Undeclared effect'] as const)
  return <Badge tone={tone} icon={icon} text={text} />
}
