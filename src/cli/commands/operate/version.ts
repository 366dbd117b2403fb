import type { CommandContext } from '../../shell/command.ts'
import { packageVersion } from '../../shell/version.ts'
import type { versionAnswer } from '../../answers/operate.ts'
import type { ValueOf } from '../../../operations/schema.ts'

export async function versionCommand({ mode, out }: CommandContext<ValueOf<typeof versionAnswer>>): Promise<void> {
  if (!mode.json) return out.line(`svc ${packageVersion}`)
  await out.json({ svc: packageVersion, node: process.version, platform: process.platform, arch: process.arch })
}
