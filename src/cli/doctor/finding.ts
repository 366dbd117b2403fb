import type { Call } from '../command.ts'
import type { Project } from '../project.ts'

export interface Finding {
  readonly ok: boolean
  readonly say: string
  readonly fix?: string
}

/** @param project undefined where it cannot be read, which a check of its own tells */
export type Check = (call: Call, project: Project | undefined) => Promise<Finding>
export type Checks = Readonly<Record<string, Check>>

export const fine = (say: string): Finding => ({ ok: true, say })
export const bad = (say: string, fix?: string): Finding => ({ ok: false, say, ...(fix !== undefined && { fix }) })
