/** What operators have paused: no new effect of it leaves. Source: decisions, section 18; command line, 2.7. */
import type { Instant } from '../../base/clock.ts'

export const PAUSE_KINDS = ['all', 'agent', 'version', 'tool', 'provider'] as const

/** `name` is empty for `all`, `namespace.name` of an agent or tool, `namespace.name@1.2.0` of a version. */
export interface PauseTarget {
  readonly kind: (typeof PAUSE_KINDS)[number]
  readonly name: string
}

/** What an operator did: paused something, or let it go on. */
export interface PauseAct extends PauseTarget {
  readonly isPaused: boolean
  readonly at: Instant
  /** As `approverOf` names them. */
  readonly by: string
  readonly reason: string | null
}

/** What an effect belongs to: the agents and versions of its run and of those above, and what it would reach. */
export interface EffectSubject {
  readonly agents: readonly string[]
  /** `namespace.name@1.2.0` */
  readonly versions: readonly string[]
  readonly tool?: string
  readonly provider?: string
}

/** The pause that holds an effect; undefined where it may leave. */
export const findPause = (pauses: readonly PauseAct[], subject: EffectSubject): PauseAct | undefined =>
  pauses.length === 0 ? undefined : pauses.find((pause) => isPausedBy(pause, subject))

function isPausedBy({ kind, name }: PauseTarget, { agents, versions, tool, provider }: EffectSubject): boolean {
  switch (kind) {
    case 'all':
      return true
    case 'agent':
      return agents.includes(name)
    case 'version':
      return versions.includes(name)
    case 'tool':
      return tool === name
    case 'provider':
      return provider === name
  }
}

/** `agent acme.desk`; `everything` */
export const describePaused = ({ kind, name }: PauseTarget): string =>
  kind === 'all' ? 'everything' : `${kind} ${name}`

/** The command that lets it go on. */
export const resumeCommandOf = ({ kind, name }: PauseTarget): string =>
  `svc stop --${kind}${kind === 'all' ? '' : ` ${name}`} --resume`

/** What stops or holds new runs of an agent: pauses of everything, of it, of its deployed version and of its tools. */
export const pausesOfAgent = <P extends PauseTarget>(
  pauses: readonly P[],
  agent: { readonly name: string; readonly version?: string | undefined; readonly tools: readonly string[] },
): readonly P[] =>
  pauses.filter((pause) =>
    [undefined, ...agent.tools].some((tool) =>
      isPausedBy(pause, {
        agents: [agent.name],
        versions: [`${agent.name}@${agent.version ?? ''}`],
        ...(tool !== undefined && { tool }),
      }),
    ),
  )
