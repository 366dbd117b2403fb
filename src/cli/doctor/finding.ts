import type { CommandContext } from '../shell/command.ts'
import type { Project } from '../project/project.ts'

export interface DoctorFinding {
  readonly ok: boolean
  readonly say: string
  readonly fix?: string
}

/** @param project undefined where it cannot be read, which the check `project` reports */
export type DoctorCheck = (call: CommandContext, project: Project | undefined) => Promise<DoctorFinding>
export type DoctorChecks = Readonly<Record<string, DoctorCheck>>

export const healthy = (say: string): DoctorFinding => ({ ok: true, say })
export const unhealthy = (say: string, fix?: string): DoctorFinding => ({
  ok: false,
  say,
  ...(fix !== undefined && { fix }),
})

/** Where the project cannot be read, nothing else of it is known: that is no health. */
export const unknownProject: DoctorFinding = unhealthy('not known: the project cannot be read', 'svc doctor project')
