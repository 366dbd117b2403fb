/** Pauses by operators: nothing paused starts a new effect. Source: docs/design/steering.md#pauses */
import type { Instant } from '../../base/clock.ts'

export const PAUSE_KINDS = ['all', 'agent', 'version', 'tool', 'provider'] as const

/** `name` is empty for `all`, `namespace.name` of an agent or tool, `namespace.name@1.2.0` of a version. */
export interface PauseTarget {
  readonly kind: (typeof PAUSE_KINDS)[number]
  readonly name: string
}

/** An act of an operator, or of the server for `CHECKPOINT_DEMAND`: a pause or its end. */
export interface PauseAct extends PauseTarget {
  readonly isPaused: boolean
  readonly at: Instant
  /** As `approverOf` names them. */
  readonly by: string
  readonly reason: string | null
}

/**
 * The subjects of an effect: the agents and versions of its run and its ancestors, and the tool or provider that it would
 * reach.
 */
export interface EffectSubject {
  readonly agents: readonly string[]
  /** `namespace.name@1.2.0` */
  readonly versions: readonly string[]
  readonly tool?: string
  readonly provider?: string
}

/** The pause that holds an effect; undefined if none does. */
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

/** Whoever pauses everything until a checkpoint comes: the server, because its configuration says so. */
export const CHECKPOINT_DEMAND = 'server:checkpoints'

/** The command that ends the pause. */
export const resumeCommandOf = ({ kind, name, by }: PauseTarget & Pick<PauseAct, 'by'>): string =>
  by === CHECKPOINT_DEMAND
    ? 'svc audit checkpoint LOG --key FILE --report'
    : `svc stop --${kind}${kind === 'all' ? '' : ` ${name}`} --resume`

/** The pauses that stop or hold new runs of an agent: of everything, of the agent, its deployed version and its tools. */
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
